// SPDX-License-Identifier: Apache-2.0

extension TestKeys {
  /// TEST KEYS, RSA of 2048 bits, PKCS#8. They are published and protect nothing.
  enum RSA {
    /// The root of the RSA authority. TEST KEY.
    static let root = """
      -----BEGIN PRIVATE KEY-----
      MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQCadIEHxb/zJb6x
      YiFga+iuVlBKvkqRCsUBFYYCTyv9GLyLHMMVPcRSjHYx7AseS9GNo+PnfMbRruiC
      FeCP0DGL1wjiv3ZDoZBbX6F21Rbd9wD2yo37TvPgveAbjfpOzDWA/5czFAzH/CPj
      LChjFWJIL+DwQLjNVXItr7v9rKEeEPWXzVTmRK6rcSMAotb+9kwNdhz0kgVAzphD
      SCgqp+eWDwVeEy0JIPtXMSoQaQCnoQHHyG7Vv8us42a8GcIFZjwlF0DnypecYb4h
      ubMhXY1zy4xRla3RoR0HCaHLTNdfFFsWJKstCE+OMWqR9VV1o8o8AjwCPryqi0DO
      mH2M+9jTAgMBAAECggEAEVMWEgAdWrGWJSFjqwQPklZ+JRQZGxHBLTDz2hh1T6tR
      oqz0ONK3zaaRr2HRkXFhrOiALLvzNRvQWp8HlDn/BLd2+LAPHODnZ0hfvQuDyBvn
      kMcBi/m8Iy5JD+4p8GK5caG5nPIXyOrAP7/5O7vvTTeJnIk18VovN26pwHd3jv6d
      MCl/btNSfGH3Kxf6WhQhUW/Jdt1en3mfjmXgppqDhuZk/KtwaErmjaTtsVpxM+sm
      rAiadDfz5tJjFrc5N7Z5Byb38Gi62/DyxdezvlC+N7ZPQ/skpg5AK+Ay6ANRLmGw
      RpnefWkobw5Fm38Garaae4eLj9IL+qwLQQAINC92AQKBgQDaRHWZZAjMi61/o2aC
      ako12jE2muoSuUV5KhFHB32UMZ7io5boKEpFA4zXqFPsLCxAxo3tuNSn+VZ83uXJ
      FHv3MMrCRr9lXQWLBo26GC3VSuCEFLclAk4yKnhcDmdzs2cplqP8SshkUHlKFSFS
      ebr1VSHW7J0WFpjDz1/wNSGVAQKBgQC1J/8L+n5sY++sPhjLDdjbrJixUtYJ+OIQ
      Xd/iaL2G/SY0qURWTNsSG2HmBVA6iJuQPjuRI4VpL3u2hzVv+c5rEOzcihr/YRzK
      /HB9BdOEvfOZloeokEJMQ2S0KUOnhUTVjKlbFan3j8/+b8gR1CNvhWZdPHC6cCVn
      wIaNrxEJ0wKBgQCiQK3i/xgDZfntnjw/yl+sNKzM2NAUZyGb9oetc4YIufJQrCcs
      IXdEYmU6k2j/cb7b0D4Fb5a134ZJgTD0D4Qvt1eioBD7evD57j9BDWRU4DqSNQwI
      OPSEGkoqtJJ20fBoXBE/JSBeYewoBBknRFKUuVpUeMQ1fUrGlMvOttBmAQKBgQCN
      ngvLMHLehy2ZSB4XtuZ9rKrdjLVYrGEFjG12UI1BVuskJeMPWBu2RwO8TxEOATcj
      hxMH/m3P8dfTtFV5CR9uIZgZPDmoxSE+KiRCCGj3j4s82SmKA+RgPBsgoFWMQymx
      i7nlQ8VQi/N8o6QTE/TzvKRuZM53YS5Msnw9jMtUEwKBgCDYtz8GEpFmFS49cZxy
      n0XGhliw966BWnsKD3t0JR7jxVHwyTbZkUijgFddOVycj75YxaGQo8zSKHnXg3Ma
      BvGzyU4E+qo1Mwskzmn2zMIBUk/KLMWnbikdCXBv6JS2pypUthKG1RGErLL8lUWS
      qG7ubQU+Qhnn9QN3W88zBt6t
      -----END PRIVATE KEY-----
      """

    /// The intermediate of the RSA authority. TEST KEY.
    static let intermediate = """
      -----BEGIN PRIVATE KEY-----
      MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC6kfmn4u6kjTek
      aDA3DRFIOoOqPVS7+93CqHf0M7imoUKo7a3WfNdgMW2GF+f/txoMOOk6eOiS+ujg
      zAsCE60nhtt0nacs+Xkrm1cQOzwc+R+rfwGJXfsXY8bFMOgscRFb+8CM51WlcGGo
      rEiJbO0QzWOULDgas8aRQIHDpQ14z7+5+gApyk8NL0q9AoiCpCwEyGqIshQRsgA/
      5Df2McDMroylQBrtPcSoN0NJhGwkA8+Yz8wVRbY3HrsQQxuF+CwlehRGBqDr+0Rp
      jv/KUxNYMv2Gd+SJMGBynu0zyjRbPFumyU/XZSSeaerbCCThHf8E9FX53Ex+XrcH
      b7wz152vAgMBAAECggEAM+2nYEwwggpwP0lkih4P/luTBBI4AG6VBbYgVQ8ESRS/
      Wgd1iCqNQ8/eHSGQSENtc5Nvjv/SM/60TMVeFwDlBAhsEqRCwKjbSgDdlb32+FV6
      tCAQjGxlE9iInaAEL0J1Q3Xp3Q4Sb469D9aMBfwUa8XO/pHkN8Jr9UfQFmVdP4+R
      oVzRcWsxFqQ5wltQinnR0rL+u+SkXmyUCi327JIynouTTnmkDdhNp56NaBQ7BKX6
      z3zZU/UtZ1lGFlC2ePB+KLOEt2AXe1GcaQ5UBtToeONmfNikwX1H0i/iw2g62iRC
      /48Bsgz2APDuIv6byHZr1p679UaBF4G9SnJ2XniGSQKBgQDiTQhkVzA26j+tznFh
      GV4GooyrBHRn4oQBB5ShP0Rtg7ywWgx8+iGaf3ZUPVUgM6+ZK+mIsg88db9NDCxi
      O6ZIwHQiDqnfHg7OqVls//2xTVP31Ey1L/PUzbkl3LZRcyIov8eYon0g9tGJfFCN
      KfYjFjlKsSzoflSq8Q7LL1ngwwKBgQDTDh8jhGTQGcRlTkQXy0GtzdZJts0gsj81
      5qxXD7hw/DPPU0lAH5gCsh5fuGQUDkrRNA0c4U3WcdSuLDAH2GPH17ApnHfflFbt
      mDN7KxnfikphJ3c25a1rTXCXwnt/gqki63g0LnSRNMgKMJqdaZI0+s5gEKrsLMwL
      42jU0tNApQKBgBuHC1JJWNAVRpG53wjUsR9Vfo7/B7nrT+tgJLBIpeY8dCNvkL1T
      H+tPPfGZVFWKc/3J3aqHHltYZ2DT7kI0x1FqN7Y82mUNnvd8migsK4v5wBERfhM8
      NgjYzYDRjEv0GV+jlH/4pAfyfiKfQJ0rUYmLFoUDcFcHpvz0PbxxkhlJAoGBAIhq
      gEX8tQytGvw/8lNO1Uz51qAev8d6btDwIETFrHmbCgHf22DPCvnzFx7XmBg+hK1j
      73XTSvRo7wcFGKZ5f0UUbJD4yaKBxw4bamsaGMccI6dYUv3wxn6stzHgSuLIGXqw
      qClSPZX9f67Wa5mDOzVzRyFgpJmy+tBUVNX6zwDhAoGAIXJM7b7cDwr51guNEjHc
      NHVU8qRGav44450zvHo1+GcA3u6EO0QETpulqZblR78yZNIEbZqyK4M+RhA+3vi2
      P8Hrmt9i2iZCP9Io52YG8LWz6+pTKkJcSh23ZuUl7FZCxBxwYU/N2ymMXEhmLvrP
      +UGKxSnSE49IGRR60e5Ki6g=
      -----END PRIVATE KEY-----
      """

    /// The leaf of the RSA authority, which signs app receipts and transaction receipts. TEST KEY.
    static let leaf = """
      -----BEGIN PRIVATE KEY-----
      MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQCksuWikR5MmIvd
      HoKzu3gMPCc1+2IlFXTP4djwzcrJri+/fnIOG6YbJ61xf4FWiCLPLlfuvZRngqSV
      Ec5l+4/+U+Xb1kVk542tzsYBz1GCIc/kKYVTJABkZvXBtbf89521rDbH/awug+r9
      ZFl9lF0b2omiA1Ly+cdUevS4Y1DuTSag9EgK1s6jfoO2QFfOu6fHVlYpWoY0yRP/
      j5Jn22Q8+9jNbYeaD5OQp3L1MyrHR0j57aDtDLCDFfNyjmew0AYdwIr6GUqV05nO
      xabSzg/EyJGXIqYtila31jbQoXxhMy+do69r/RQ8e/t1O/yHm7uOZ1iLq2yakDN0
      qaLqInotAgMBAAECggEAAQwdLzc2htyqeQW+ZYex5/wC8NIwKdW02DSStVdNrJIl
      vhU/Au10lTQfo3rg1uzHMeOUzhEZDj5zrvn9wsLCg+bDLa5zYwSg70PDGRRZK5ds
      88G61hBCy2CnO+vcp2hosZTOhV+M1n/iwOlAM27715dAbE4SmzZw6M3eXATPqTBE
      SG5VTkWlmTNjBJBCxkBjKnUC28YfVMEldg8OQvX2rL9dcihpy1h/kI8ewpcGQdJG
      6X3vMHdebdHJFGJWIk1wwBdUJDcjh1617v5enWHmuaSqDrTVvNxlWVhHEoTpJiuj
      lhREdsyy2i986paWhO3eIXW7pOAPZSSta9yeXf2AYQKBgQDjFnrc8jfwgU21J93Q
      Omkt8JFmyxVKR2DXR/1blY5KR5niJOqOCyIb5e3K5aC4sMAz4c3JeJS6gABYkyA3
      8KPk4EoGIlr0uVUVpqIJz17GuK2hDCFgG7rUUBGPWytJ6mqSnxwmvAner+l6rphR
      nudqSMzg4WDImX97oZ2V/yBDYQKBgQC5qvWp/rJMB3qKGEXCFOnyLeNNLXJ4+FMQ
      0uVnzMm3ZBToDht/nmlz8izKfB/SxxyD9apnQcFHIm8ypgwLbEcgJU3VcIa/NFeh
      XO8t+0kiUgwS3k4/CeV+kmH1wBtVlNwcyJAbdVcW6AtMq00kXyz8dDf3Nv06rysX
      oKbceg/2TQKBgCpZgOQ/j8scch98pdM1cXQNzy/6Y6gMk7TSSh+QTo7vt3UDKXMA
      BIZrZONX25dV7yI91CDkiegWAvqBxZppGEeQxH1MXuYQwhtdjg6CS8yHmGnWV0sT
      IM6DeCLh/7qzKtjZL2jR3I1ZBRPKB8IA/mtF1F+D6IbAiZPG2hqlD6FBAoGAc45g
      ycXYiJNbBBnpSMslc/J1dvJjPcEoSd9IolsF7NsgW/Fz0fDxJxXCJOAuGkyMheDf
      htaZCcH3vWk1M+LXPb2Z/M7FPrnAFJE318F/GhpAo3my728kY6uNxpsjKBe3Cz8U
      2dIlOv9/EN/I6mtGH3Xh4z5ZSy38vv7g+3YI+z0CgYAQRrjPfkKle3nKZVCuWvpn
      8GtI/beK4h9Bs36Zq105ffI7AM0fCKzdb/27XdqyvXz+6plg/F5pEKqfJjctSLZu
      dx9OyUki/2vyby0ZNvOJNKYinXqsLckAFpdHLXmf/g6CHPV9xCKWzjuvqLURIIGj
      kaZhKtiGkmyEmfJCTpbFCg==
      -----END PRIVATE KEY-----
      """

    /// The root of an untrusted authority. TEST KEY.
    static let foreign = """
      -----BEGIN PRIVATE KEY-----
      MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQDLJ6o6ONrRBMlj
      wdyZxJcAy09+hT3RlNLaJNsYOnIAYZMvB7sVVApYIU95GNGct8QYx6x8PrxUF1L/
      kNtg3Ha8sNb83F5Eqny/CHMuvBvRqihvBQ6wdBpw1sBe0naKqah2QZw5WOEmCrsS
      U1AeZlwYx21fbAr+ZS0xN69OXgdhaqok5qivinIigVKvOP54EVUs3UP4aQZNTiNr
      m7IeQwFMSdIehBX0IQdPkOzmOJU6A71hHtKTZwexfKhpC0uBQovhfekpbrEk0sIR
      vVyIXLuMwFacySsI+tEEAAYsvUennkLX17G8b9mrNDvDWpnzb0f7MzUxXWtiuyMt
      rBDFtkSdAgMBAAECggEAVrBa0dRf/zBBNZnMZis+2l5nUhBOREfyv5ZZjZmm+uWo
      NjngyaWecmPocz61d1/tRDu0LSJiH6oCRz7LdiYtXrBBVQ4+BaQQbj4PVIJ9hnbL
      ITCxx3cLr1ncJbo+TkY+NhQiM1BrZt3OXPADMK2yH/q9f6nteQe4hJeD7XdvQ9BK
      TC2cG+ZzGIKzfOyAFAhMVcDP5Q2quGtBTfyb91UtHKaQ3i5H01Tw8T94Ajpn3LfJ
      YQVwuvi/fydOT45FE2oNjL6cvLBH8SaY/rFmHjD4N/WTqT2oPlnOyVJvXpwFBekJ
      OTNSk8H87DL3iINZgYsTajND5130PjJPo4zz5UbNWwKBgQD6GEK6wVAq7Gx5YDim
      HLKxzniEXAUlZ68M+mDxZTeB29SkCEmSgAHZxH7uag3Y/TSqeGBQUX+BW+YzjY1c
      f/5PkUMtiKChwSR0nqP5FBUNFY6oV6r/7nn8sSVvEQ4jPsHgcxXZtCBtNvAJWYPG
      DusZMku/CZritS1/ojsjr+6iZwKBgQDP86swytP8PT8U3BSW6VHF8rBwJ3trobYx
      +vV3MVjmr5CRrCPSARROCxP1ui/etNBMtJ9G9S8L2laWoNYIJSUe+xcDfpiDBT3q
      dpjWtDdddhfF/8pofbhJ2QwB0nO7DPwe2inEq7TXNmrgJ5B1reNmXulM8l6kmMAA
      eDdyofbmWwKBgHkkQUZ3Fx8DkHOmoSoNYp1wFr5+WFvLAmb17Plg/ucfFbwy63hU
      GxFh9d4Ebxq5Y8ZjMrwVDf8aBcLZAS1aLlRaV8D5ml1f0gnPQjwHdz70PzrZ5FG+
      MUauhCRtjXyTDJRtCpt+feqJHvJYctUAKu70hu5Nd8Hy4swdSCo8MQpnAoGACqbj
      pPsuwqPsgEgJsfU/oBEfYo9TLh85cvP08OcRM7fYgu27Y/10Kc89dX/VBeZjKRqz
      cfILN+M2Pj7816v3a8/WzPIGI+f31PPAPnc6wsnSy+yfVJzj/Lxmdg1uqi0vGPF5
      5D4bZE7ASL0eFDkVBeBkuPFNUccVRrDhvjh3qjMCgYEA9QRfUg8vh6Yd/L7e7uIA
      cBQh9ngUgPN9p0zXYu1m2i8ALUCJL1VgTBU1WhsdPMJZFKHkp9utvothA/dcssAr
      zkMM3kP+rfSMJs2MXujnjg8zoGwOeo4ZLCwypuQFGD0pBZIeoGZkm/HB1edD+WYc
      /yGSrf1WIQ/T/7j45QJi2Yk=
      -----END PRIVATE KEY-----
      """

    /// The key that signs the purchases of an app at Google Play and Huawei. TEST KEY.
    static let app = """
      -----BEGIN PRIVATE KEY-----
      MIIEvAIBADANBgkqhkiG9w0BAQEFAASCBKYwggSiAgEAAoIBAQC6KTHdK6/Pbtb3
      uCRY/U/+X6sbijVhR2f7S3uB5K5+jsvZ9r73q9zdfHDqRioa73EOeUxdj7y+P30q
      Np/9yuiTctwuOzMky7v+aEKVT+skOnXrjUTLSoltHYQjkyDaizAi8yr4QUa0BmWb
      nYByNnKZBjlGhVmR699PrGMbC1TezokBh0w9l99nShm34/Huu/u9XXTTES4bQKrN
      gZFBPh35KzjIzlEz/QDW4421MhAORXXioQn2OiljrHUlC9mrThBEqmBMzzJIDwZR
      pxUtnwU73LvZ5buBq+zqyONrTybL6zhKzq4Bfa6gzga0xQf4q2Gzb+sUY0hYjtvQ
      CPURYsIFAgMBAAECggEABlVt+KIqoGJbRoDZnbx6mwM6wVxdrhJdn49lI5l59Vza
      4y7Rtv/+Kvv3pITgHFv+qvkmB73i9E8ZLVU/8sTTTmb3Rkxl1E/pNMHr2AQo0in6
      BppfF5KQ4+k/7GzuTnkzWVEQKnOgGfJoxRdh/iDLm9i6HKPfVQdjKOUK1yn2yIDL
      3+3PmWu0HP8kmZeockEQFccHP1pcYJ7ATYAgueCTG5zhRY0MmwNoMyBJslPh6r3A
      07L150nPiiXwCTFqDVJogNlglS28ynBWOE+kEGnQRa1gfvFxKtUgbzCEx8PbEB/U
      vMr74fzV9ou+0+oqdYa4jWHktb6h3ZNQpZLEACofGQKBgQD/GjJB0mNnPIGtr6NN
      bsQeWDPvn7XRPZkyCJKM5ATQKDtZv4nZEgMZiNcSwGsjVisLh7l2EaDD9xcQdBPq
      a6gVssCThzI4gQm3DGkcogEGyUYqUASnefOl1F3Qlgft7RhkRpukP6BU1+5xqvW1
      D+Q112WedpfUpmAurbf1PFFLeQKBgQC60OTd9dVQ2ZxaJu9SvFuYwah/ngECOYRZ
      Mi8y+hQitjdTYF9J0/XrCE1tIwlt+3L0pog3IDC1TwW2/u5R2B89Rjzfn4uV18S9
      KAnjwiNErzD4M0pC3sjdrvM+MvolcOAaz9lLB9h6Fr+t4GR6WoGk6nvk7RcDgHLK
      idt7UdM77QKBgB2YOWpfcP7CCz1OGgDar8/hZa0P9zTeE461ZeMIdPJ9KF2CFgjj
      yQ5GTMU1I3jG/1loFoD3DJKPcNKM1N6mPKq/wQ2capwZhDoDK5KRzNKvuP8hp1iS
      kkyTtYqETUkx71l6w4Wrh/svzc7MCZNG06/XXEek9HpMDu57YtMFe1zpAoGAGET/
      Fp7TQZejqkqYmMUDmUq/WyTpuKJEQVo1q4e1ifTmJxzEBFFXB1uiw2Tj2rfp7UKd
      O5wg98z2Txm7WEKdfFZdnieZ+LN5SaGj90THVCr2T6hKI3nR2orZ6uCwgqCxXIpY
      DllMlD/UUwBtzT9ozEXyJoFulfPf9dQHAXRV3tkCgYAIZpSK/75jyHx29c2Gb6jK
      mcpktGxhjmo4tIswkOqIS3LH8D/XXURDCqz4k0c1Midss+y2+S89Q0DrAad75GsH
      LSiYnkEsizhkbSlT3TI+GqHNuAq/TJSjTfcAvMoEqThgmAnFaNLVuindwUIFFXlM
      F2fKnQUTzw2Bq+V9qsdPqQ==
      -----END PRIVATE KEY-----
      """
  }
}
