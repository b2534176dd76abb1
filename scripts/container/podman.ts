import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The result of a command. */
export interface Outcome {
  readonly code: number
  /** Both streams. */
  readonly text: string
}

/** Runs a command and returns its output, whatever its exit code. */
async function run(command: readonly string[], env = {}): Promise<Outcome> {
  const child = Bun.spawn([...command], {
    env: { ...process.env, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  })
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { code, text: `${out}${errors}`.trim() }
}

/** Runs a command that must succeed. */
export async function mustRun(command: readonly string[], env = {}): Promise<string> {
  const { code, text } = await run(command, env)
  if (code !== 0) throw new Error(`"${command.join(" ")}" ended with ${code}:\n${text}`)
  return text
}

/**
 * Podman with images and containers of its own, which `stop` removes. With runc: crun does not work
 * where both versions of control groups are mounted.
 */
export class Podman {
  readonly folder = mkdtempSync(join(tmpdir(), "container-test-"))

  command(...args: readonly string[]): string[] {
    const storage = ["--root", join(this.folder, "storage"), "--runroot", join(this.folder, "run")]
    const runtime = ["--runtime", Bun.which("runc") ?? "/usr/sbin/runc"]
    return ["podman", ...storage, ...runtime, "--cgroup-manager", "cgroupfs", ...args]
  }

  run(...args: readonly string[]): Promise<Outcome> {
    return run(this.command(...args))
  }

  mustRun(...args: readonly string[]): Promise<string> {
    return mustRun(this.command(...args))
  }

  async stop(): Promise<void> {
    for (const what of [["rm"], ["rmi"]]) await this.run(...what, "--all", "--force")
    await this.run("volume", "rm", "--all", "--force")
    rmSync(this.folder, { recursive: true, force: true })
  }
}
