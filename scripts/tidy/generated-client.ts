import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const source = "packages/contract/src/client/contract-facts.ts"
const target = "packages/contract/src/client/contract.ts"
const lineCharsMax = 100

/**
 * Compares what the client knows of the route table with the route table; with `isFixing` writes it
 * instead.
 */
export async function checkGeneratedClient(root: string, isFixing: boolean): Promise<string[]> {
  if (!existsSync(join(root, source))) return []
  const { readContractFacts } = await import(join(root, source))
  const expected = toModule(readContractFacts())
  const path = join(root, target)
  if (existsSync(path) && readFileSync(path, "utf8") === expected) return []
  if (!isFixing)
    return [`${target}: is not what the route table says; npm run check -- --fix writes it`]
  writeFileSync(path, expected)
  return []
}

/** The text of the module as the formatter would write it. */
function toModule(facts: {
  readonly routes: Readonly<Record<string, string>>
  readonly errorCodes: readonly string[]
}): string {
  return [
    'import type { ErrorCode } from "../errors.ts"',
    'import type { ContractFacts } from "./contract-facts.ts"',
    "",
    "/** The facts of the route table. `npm run check -- --fix` writes this file: do not edit it. */",
    "export const contract: ContractFacts = {",
    "  // method, path, body, response",
    "  routes: {",
    ...Object.entries(facts.routes).map(([name, row]) => toProperty(name, row)),
    "  },",
    "  errorCodes: `",
    ...toLines(facts.errorCodes),
    "  `",
    "    .trim()",
    "    .split(/\\s+/) as ErrorCode[],",
    "}",
    "",
  ].join("\n")
}

function toProperty(name: string, row: string): string {
  const line = `    ${name}: "${row}",`
  return line.length <= lineCharsMax ? line : `    ${name}:\n      "${row}",`
}

/** Puts as many words into each line as fit. */
function toLines(words: readonly string[]): readonly string[] {
  const lines: string[] = []
  for (const word of words) {
    const line = `${lines.at(-1) ?? "   "} ${word}`
    if (lines.length > 0 && line.length <= lineCharsMax) lines.splice(-1, 1, line)
    else lines.push(`    ${word}`)
  }
  return lines
}
