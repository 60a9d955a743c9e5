# SPDX-License-Identifier: Apache-2.0
"""The command line of receipt-tool: the commands with their options and their help, and the groups of options that several
have, from the tables in WireTypes/receipt-tool/*.commands.

A part of scripts/wire-types; WireTypes/README.md describes the tables. What a command does is an extension in the sources.
"""

import pathlib
import re
import sys
import textwrap

import output_schemas

FOLDER = "Sources/Commands/receipt-tool/Generated"
ROOT_COMMAND = "receipt-tool"
PASCAL = {"api": "API", ROOT_COMMAND: "ReceiptTool"}


def camel_case(name: str) -> str:
    first, *rest = name.split("-")
    return first + "".join(word.capitalize() for word in rest)


def literal(text: str) -> str:
    """A string literal, in pieces that fit on a line; of several lines, one that shows them."""
    if "\n" in text:
        return f'#"""\n{text}\n"""#'
    pieces = textwrap.wrap(text, 84, drop_whitespace=False, break_long_words=False, break_on_hyphens=False)
    escaped = (piece.replace("\\", "\\\\").replace('"', '\\"') for piece in pieces)
    return " + ".join(f'"{piece}"' for piece in escaped)


class Row:
    """An option, a flag or an argument: `[NAME = ]--LONG VALUE` or `[NAME = ]<VALUE>`, type with its default, help.
    `-- <VALUE>` is everything behind `--`."""

    def __init__(self, cells):
        name, _, declared = cells[0].rpartition(" = ")
        self.type, _, self.default = cells[1].partition(" = ")
        self.help = cells[2]
        self.discussion: list[str] = []
        self.is_behind_options = declared.startswith("-- ")
        declared = declared.removeprefix("-- ")
        self.is_argument = declared.startswith("<")
        if self.is_argument:
            self.value, self.flags = declared[1:-1], []
        else:
            match = re.fullmatch(r"((?:-\w, )?--[\w-]+)(?: (\S+))?", declared)
            if not match:
                raise ValueError(declared)
            self.flags, self.value = match[1].split(", "), match[2]
        self.name = name or camel_case(self.value if self.is_argument else self.flags[-1].removeprefix("--"))

    def swift(self) -> str:
        arguments = ["parsing: .postTerminator"] if self.is_behind_options else []
        if not self.is_argument:
            kinds = [f'.custom{"Long" if flag.startswith("--") else "Short"}("{flag.lstrip("-")}")' for flag in self.flags]
            arguments.append(f"name: {kinds[0]}" if len(kinds) == 1 else f"name: [{', '.join(kinds)}]")
        texts = [literal(self.help)]
        if self.discussion:
            texts.append(f"discussion: {literal(dedented(self.discussion))}")
        if self.value:
            texts.append(f'valueName: "{self.value}"')
        arguments.append(f"help: ArgumentHelp({', '.join(texts)})")
        kind = "Argument" if self.is_argument else "Flag" if self.type == "Bool" else "Option"
        default = "false" if kind == "Flag" else self.default
        return f"@{kind}({', '.join(arguments)})\nvar {self.name}: {self.type}{f' = {default}' if default else ''}\n"


class Group:
    """A group of options that a command has: `NAME`, type, and the title of its section in the help."""

    def __init__(self, cells):
        self.name, self.type = cells[:2]
        self.title = cells[2] if len(cells) > 2 else None

    def swift(self) -> str:
        title = f'(title: "{self.title}")' if self.title else ""
        return f"@OptionGroup{title} var {self.name}: {self.type}\n"


class Table:
    """`command PATH` or `async command PATH`, or `options TYPE`."""

    def __init__(self, kind, name, protocol):
        self.path = name.split(" ")
        self.is_command = kind != "options"
        self.type = name
        self.protocol = protocol
        if self.is_command:
            words = (PASCAL.get(word) or "".join(part.capitalize() for part in word.split("-")) for word in self.path)
            self.type = "".join(words) + ("" if self.is_root else "Command")
        self.documentation: list[str] = []
        self.rows: list[Row | Group] = []
        self.subcommands: list[str] = []

    @property
    def is_root(self) -> bool:
        return self.path == [ROOT_COMMAND]

    def swift(self) -> str:
        if not self.is_command:
            documentation = "".join(f"/// {line.strip()}\n" for line in self.documentation)
        else:
            documentation = f"/// The command `{' '.join(self.path)}`.\n"
        text = f"\n{documentation}struct {self.type}: {self.protocol} {{\n"
        if self.is_command:
            abstract, *discussion = self.documentation
            arguments = [f'commandName: "{self.path[-1]}"', f"abstract: {literal(abstract)}"]
            if any(discussion):
                arguments.append(f"discussion: {literal(dedented(discussion))}")
            if self.is_root:
                arguments.append("version: toolVersion")
            if self.subcommands:
                arguments.append(f"subcommands: [\n{', '.join(f'{type}.self' for type in self.subcommands)}\n]")
            text += "static let configuration = CommandConfiguration(\n" + ",\n".join(arguments) + ")\n\n"
        return text + "\n".join(row.swift() for row in self.rows) + "}\n"


def dedented(lines: list[str]) -> str:
    """The lines without the blank ones before and after them."""
    return "\n".join(lines).strip("\n")


def read(path: pathlib.Path) -> tuple[list[str], list[Table]]:
    """The imports and the tables of a file."""
    imports, tables = [], []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = re.split(r"\s{2,}", line.strip())
        if match := re.fullmatch(r"import (\w+)", line):
            imports.append(match[1])
        elif match := re.fullmatch(r"(async command|command|options) (\S.*)", line):
            protocol = {"async command": "AsyncParsableCommand", "command": "ParsableCommand"}.get(match[1], "ParsableArguments")
            tables.append(Table(match[1], match[2], protocol))
        elif line.startswith("      ") and tables[-1].rows:
            tables[-1].rows[-1].discussion.append(line[6:])
        elif (line.startswith("    ") or not line) and tables and not tables[-1].rows:
            tables[-1].documentation.append(line[4:])
        elif cells[0] == "subcommands":
            tables[-1].subcommands = cells[1].split(", ")
        elif line.startswith("  ") and re.match(r"[-<]", cells[0].rpartition(" = ")[2]) and len(cells) == 3:
            tables[-1].rows.append(Row(cells))
        elif line.startswith("  ") and len(cells) in (2, 3):
            tables[-1].rows.append(Group(cells))
        elif line:
            sys.exit(f"wire-types: {path.name}:{number}: cannot read: {line}")
    for table in tables:
        table.documentation = dedented(table.documentation).splitlines()
    return imports, tables


def files(folder: pathlib.Path) -> dict[str, str]:
    """The generated files, by their paths."""
    read_files = {path: read(path) for path in sorted(folder.glob("*.commands"))}
    commands = [table for _, tables in read_files.values() for table in tables if table.is_command]
    types = {" ".join(command.path): command.type for command in commands}
    for command in commands:
        named = command.subcommands or [each.path[-1] for each in commands if each.path[:-1] == command.path]
        command.subcommands = [types[name if command.is_root else " ".join([*command.path, name])] for name in named]
    for printed in {name for table in output_schemas.read(folder) for name in table.commands} - {"every command"}:
        name, *options = printed.split(" --")
        command = next((each for each in commands if " ".join(each.path) == name), None)
        known = [flag for row in command.rows if isinstance(row, Row) for flag in row.flags] if command else []
        if not command or any(f"--{option}" not in known for option in options):
            sys.exit(f"wire-types: an object is said to be printed by {printed}, which is no command")
    return {
        f"{FOLDER}/{path.stem}CommandLine.swift": f"""// SPDX-License-Identifier: Apache-2.0
// Generated by scripts/wire-types from WireTypes/receipt-tool/{path.name}. Do not edit.

import ArgumentParser
{"".join(f"import {name}{chr(10)}" for name in imports)}{"".join(table.swift() for table in tables)}"""
        for path, (imports, tables) in read_files.items()
    }
