// SPDX-License-Identifier: Apache-2.0
package dev.receiptkit;

/**
 * Why a receipt is not valid.
 *
 * @param code a stable code
 * @param message a sentence or two
 * @param place a byte offset, an attribute, a JSON path or a certificate; {@code null} if there is none
 */
public record Reason(String code, String message, String place) {}
