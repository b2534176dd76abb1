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

type Facts = Readonly<Record<string, unknown>>

/** As the formatter would write it. */
function toModule(facts: {
  readonly routes: Readonly<Record<string, Facts>>
  readonly errorCodes: readonly string[]
}): string {
  return [
    'import type { ContractFacts } from "./contract-facts.ts"',
    "",
    "/** The facts of the route table. `npm run check -- --fix` writes this file: do not edit it. */",
    "export const contract: ContractFacts = {",
    "  routes: {",
    ...Object.entries(facts.routes).flatMap(([name, route]) => toProperty(name, route)),
    "  },",
    "  errorCodes: [",
    ...facts.errorCodes.map((code) => `    "${code}",`),
    "  ],",
    "}",
    "",
  ].join("\n")
}

function toProperty(name: string, facts: Facts): readonly string[] {
  const fields = Object.entries(facts).map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
  const line = `    ${name}: { ${fields.join(", ")} },`
  if (line.length <= lineCharsMax) return [line]
  return [`    ${name}: {`, ...fields.map((field) => `      ${field},`), "    },"]
}
