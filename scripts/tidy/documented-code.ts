import { type GeneratedTable, toTable } from "./generated-tables.ts"

/**
 * Every error code of the contract, every option of the configuration and every exit code has its
 * row, and no row is left of one that is gone.
 */
export const documentedCode: readonly GeneratedTable[] = [
  {
    name: "error codes",
    document: "docs/errors.md",
    source: "packages/contract/src/errors.ts",
    toLines: ({ errorCodes }) => {
      const codes = Object.entries(asRecord("errorCodes", errorCodes))
      return toTable(
        ["code", "status", "retry", "meaning"],
        codes.map(([code, { status, isRetryable, meaning }]) => [
          `\`${code}\``,
          String(status),
          isRetryable ? "yes" : "",
          asMeaning(code, meaning),
        ]),
      )
    },
  },
  {
    name: "exit codes",
    document: "docs/cli.md",
    source: "packages/cli/src/exit-codes.ts",
    toLines: ({ exitCodes }) => {
      const codes = Object.entries(asRecord("exitCodes", exitCodes))
      return toTable(
        ["exit code", "meaning"],
        codes.map(([name, { exit, meaning }]) => [String(exit), asMeaning(name, meaning)]),
      )
    },
  },
  {
    name: "options",
    document: "docs/configuration.md",
    source: "packages/server/src/config/options.ts",
    toLines: ({ options }) => {
      const descriptors = Object.values(asRecord("options", options))
      return toTable(
        ["variable", "flag", "default", "meaning"],
        descriptors.map((option) => [
          `\`${option.env}\``,
          `\`${option.flag ?? toFlag(String(option.env))}\``,
          toDefault(option.default),
          asMeaning(String(option.env), option.meaning),
        ]),
      )
    },
  },
]

type Descriptor = Readonly<Record<string, unknown>>

/** Lists count as records too. */
function asRecord(name: string, value: unknown): Record<string, Descriptor> {
  if (typeof value !== "object" || value === null) throw new Error(`it does not export ${name}`)
  return value as Record<string, Descriptor>
}

function asMeaning(name: string, meaning: unknown): string {
  if (typeof meaning !== "string" || meaning === "") throw new Error(`${name} has no meaning`)
  return meaning
}

/** The flags of `hamlet serve` mirror the environment: HAMLET_DATA_DIR is --data-dir. */
function toFlag(variable: string): string {
  return `--${variable
    .replace(/^HAMLET_/, "")
    .toLowerCase()
    .replaceAll("_", "-")}`
}

/** A default that is described in words is not a value to copy, so it is not set as code. */
function toDefault(value: unknown): string {
  const text = String(value ?? "")
  return text === "" || text.includes(" ") ? text : `\`${text}\``
}
