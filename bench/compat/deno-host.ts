import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { findDeno } from "../../scripts/find-deno.ts"
import { compare, compareResponse, type Failure, type Host } from "./outcome.ts"
import type { PackageCase } from "./package-case.ts"
import type { Services } from "./services/services.ts"

const limits = { caseMs: 90_000, pollMs: 50, outputCharsMax: 2_000 }
const mark = "compat-result:"

/**
 * Prints what the default export of the module returns. The import is static, because Deno 2.9 does
 * not find packages with peer dependencies when a module that imports them is loaded later.
 */
const callProgram = `import val from "./val.tsx"
const text = (value) => JSON.stringify(value === undefined ? null : value)
const report = (result) => console.log("\\n${mark}" + text(result))
try {
  const calls = JSON.parse(Deno.env.get("COMPAT_CALLS"))
  const values = []
  for (const args of calls) values.push(await val(...args))
  report({ values })
} catch (error) {
  report({ error: error?.name + ": " + error?.message })
}
Deno.exit(0)
`

/** Plain Deno with all permissions, a process per case. */
export class DenoHost implements Host {
  readonly #folder: string
  readonly #services: Services
  readonly #denoDir: string
  readonly #certificates: string
  #made = 0

  /** `denoDir` is its cache of packages. */
  constructor(folder: string, denoDir: string, services: Services) {
    this.#folder = folder
    this.#denoDir = denoDir
    this.#services = services
    // Deno reads one file: the certificates that this machine is configured with, and ours.
    this.#certificates = join(folder, "certificates.pem")
    const configured = process.env.DENO_CERT ? readFileSync(process.env.DENO_CERT, "utf8") : ""
    writeFileSync(this.#certificates, `${configured}\n${services.addresses.ca}`)
  }

  async runPackage(useCase: PackageCase): Promise<Failure> {
    if (useCase.responds !== undefined) return this.#serve(useCase)
    const result = await this.#call(useCase.code, [[this.#services.addresses]])
    return "error" in result ? result.error : compare(useCase, result.values[0])
  }

  async runChecks(code: string, count: number): Promise<readonly Failure[]> {
    const { addresses } = this.#services
    const calls = Array.from({ length: count }, (_, index) => [index, addresses])
    const result = await this.#call(code, calls)
    if ("error" in result) throw new Error(`Cannot run the checks: ${result.error}`)
    return result.values.map((value) => (value === null ? undefined : String(value)))
  }

  async #call(
    code: string,
    calls: readonly (readonly unknown[])[],
  ): Promise<{ readonly values: readonly unknown[] } | { readonly error: string }> {
    const folder = this.#write(code)
    writeFileSync(join(folder, "call.ts"), callProgram)
    const child = this.#start(folder, ["run", "-A", ...flags, "call.ts"], {
      COMPAT_CALLS: JSON.stringify(calls),
    })
    const timer = setTimeout(() => child.kill("SIGKILL"), limits.caseMs)
    const [out, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ])
    clearTimeout(timer)
    const line = out.split("\n").findLast((candidate) => candidate.startsWith(mark))
    if (line !== undefined) return JSON.parse(line.slice(mark.length))
    return { error: `it ended with ${await child.exited} ${errors.slice(-limits.outputCharsMax)}` }
  }

  /** Starts the module as a program and requests a page. */
  async #serve(useCase: PackageCase): Promise<Failure> {
    const folder = this.#write(useCase.code)
    const port = 20_000 + Math.floor(Math.random() * 10_000)
    const command = useCase.code.includes("export default")
      ? ["serve", "--host=127.0.0.1", `--port=${port}`]
      : ["run"]
    const child = this.#start(folder, [...command, "-A", ...flags, "val.tsx"], {
      PORT: String(port),
    })
    const errors = new Response(child.stderr).text()
    try {
      const end = performance.now() + limits.caseMs
      for (;;) {
        const response = await fetch(`http://127.0.0.1:${port}/hello?name=Ada`).catch(() => {})
        if (response) return compareResponse(useCase, response.status, await response.text())
        if (child.exitCode !== null || performance.now() > end)
          return `it does not listen ${(await errors).slice(-limits.outputCharsMax)}`
        await Bun.sleep(limits.pollMs)
      }
    } finally {
      child.kill("SIGKILL")
    }
  }

  #write(code: string): string {
    const folder = join(this.#folder, `case${++this.#made}`)
    mkdirSync(folder)
    writeFileSync(join(folder, "val.tsx"), code)
    return folder
  }

  #start(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>) {
    return Bun.spawn([findDeno(), ...args], {
      cwd,
      env: {
        // How this machine reaches the registry.
        ...process.env,
        TMPDIR: cwd,
        DENO_DIR: this.#denoDir,
        DENO_NO_UPDATE_CHECK: "1",
        DENO_CERT: this.#certificates,
        NO_COLOR: "1",
        ...env,
      },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    })
  }
}

const flags = ["--quiet", "--no-lock", "--no-config", "--no-check", "--no-prompt"]
