import type { PackageCase } from "./package-case.ts"

/** An import at the beginning of a line: what it binds, if anything, and from where. */
const statement = /^import (?:(.+) from )?("[^"]+")$/gm

/** Whether a case can share a module with others: servers have an address, and JSX a pragma. */
export function canShare({ code, responds }: PackageCase): boolean {
  return responds === undefined && !code.includes("@jsx")
}

/**
 * A module with several cases, so that their packages are resolved together. Its default export runs
 * the case with a number. Each case keeps its names to itself.
 */
export function toSharedModule(cases: readonly PackageCase[]): string {
  const imports: string[] = []
  const functions = cases.map(({ code }) => {
    const bindings: string[] = []
    const body = code.replaceAll(statement, (_, clause: string | undefined, from: string) => {
      const name = `module${imports.length}`
      imports.push(`import * as ${name} from ${from}`)
      if (clause !== undefined) bindings.push(...toBindings(clause, name))
      return ""
    })
    return `  () => {\n${bindings.join("\n")}${body.replace("export default ", "return ")}\n  },`
  })
  return `${imports.join("\n")}
const cases = [
${functions.join("\n")}
]
export default (index, services) => cases[index]()(services)
`
}

/** The bindings of `a`, `* as a`, `{ a, b as c }` and `a, { b }`, as constants. */
function toBindings(clause: string, name: string): string[] {
  const [, own, named] = /^([^{]*?),? ?(\{.+\})?$/.exec(clause) ?? []
  const isNamespace = own?.startsWith("* as ") === true
  return [
    ...(own ? [`const ${own.replace("* as ", "")} = ${name}${isNamespace ? "" : ".default"}`] : []),
    ...(named ? [`const ${named.replaceAll(" as ", ": ")} = ${name}`] : []),
  ]
}
