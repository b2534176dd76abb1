/** A check of one API of the platform. */
export interface ApiCheck {
  readonly name: string
  /** The body of an async function that gets the addresses of the services and returns true. */
  readonly body: string
}

/** Checks that share a module, and the imports of that module. */
export interface ApiGroup {
  readonly title: string
  readonly imports: string
  readonly checks: readonly ApiCheck[]
}

/**
 * Reads a table of checks, a line each: a name, ` | `, and an expression that is true, or statements
 * that begin with `const`.
 */
export function toChecks(table: string): ApiCheck[] {
  return table
    .trim()
    .split("\n")
    .map((line) => {
      const at = line.indexOf(" | ")
      if (at < 0) throw new Error(`Cannot read a check: "${line}"`)
      const code = line.slice(at + 3)
      return {
        name: line.slice(0, at).trim(),
        body: code.startsWith("const ") ? code : `return ${code}`,
      }
    })
}

const checkMsMax = 15_000

/**
 * The module of a group, for Deno and for vals. Its default export runs the check with a number and
 * returns null, or the error as text.
 */
export function toModule({ imports, checks }: ApiGroup): string {
  const functions = checks.map(
    ({ body }) =>
      `  async ({ http, https, http2: http2Address, ca, ws, wss, tcp, tls: tlsAddress }) => { ${body} },`,
  )
  return `${imports}
const dir = Deno.makeTempDirSync()
const checks = [
${functions.join("\n")}
]
export default async function (index, services) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("nothing happened for ${checkMsMax / 1000} seconds")), ${checkMsMax})
  })
  try {
    const got = await Promise.race([checks[index](services), late])
    return got === true ? null : "Error: it gave " + JSON.stringify(got)
  } catch (error) {
    return error instanceof Error ? error.name + ": " + error.message : "Error: " + String(error)
  } finally {
    clearTimeout(timer)
  }
}
`
}
