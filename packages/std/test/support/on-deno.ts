import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { findDeno } from "../../../../scripts/find-deno.ts"

/** Runs code of tests on Deno, as vals run; `await using` leaves nothing behind. */
export interface OnDeno extends AsyncDisposable {
  /**
   * Runs the code as the body of an asynchronous function that sees `blob`, `sqlite` and, as
   * `modules`, all that they were exported with. What it returns comes back through JSON, and so
   * does what it throws.
   */
  run(body: string, env: Readonly<Record<string, string>>): Promise<unknown>
}

const names = {
  blob: "blob",
  sqlite: "sqlite",
  openai: "openai",
  utils: "val-files",
  email: "email",
}
const imports = Object.entries(names)
  .map(([name, file]) => {
    const url = import.meta.resolve(`../../src/${file}.ts`)
    return `import * as ${name}Module from "${url}"`
  })
  .concat(
    `const modules = { ${Object.keys(names).map((name) => `${name}: ${name}Module`)} }`,
    "const { blob } = modules.blob, { sqlite } = modules.sqlite",
  )
  .join("\n")

/** Makes a place for Deno to keep what it compiles. */
export async function openDeno(): Promise<OnDeno> {
  const folder = await mkdtemp(join(tmpdir(), "hamlet-std-"))
  const command = [
    findDeno(),
    "run",
    "--quiet",
    "--no-config",
    "--no-lock",
    "--no-remote",
    "--allow-net",
    "--allow-env",
    "--ext=ts",
    "-",
  ]
  return {
    async run(body, env) {
      const caught = "(error) => ({ failed: error.name, message: error.message, code: error.code })"
      const code = `${imports}\nconsole.log(JSON.stringify({ result: await (async () => { ${body} })().catch(${caught}) }))`
      const child = Bun.spawn(command, {
        stdin: new Blob([code]),
        stdout: "pipe",
        stderr: "pipe",
        env: { ...env, DENO_DIR: join(folder, "deno"), DENO_NO_UPDATE_CHECK: "1" },
      })
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      if ((await child.exited) !== 0) throw new Error(stderr)
      return JSON.parse(stdout).result
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  }
}
