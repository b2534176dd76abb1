import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A file with which a program gets name servers of its own. */
export interface ResolvConf {
  /** The command before that of the program. */
  readonly command: readonly string[]
  remove(): void
}

/** Why a program cannot have name servers of its own here. */
export function whyNoNameServer(): string | undefined {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return "only root on Linux can give a server name servers of its own"
  const mount = ["mount", "--bind", "/dev/null", "/etc/resolv.conf"]
  const tried = Bun.spawnSync(["unshare", "--mount", ...mount])
  return tried.exitCode === 0 ? undefined : "this machine lets nobody mount anything"
}

/** Names the name server, and lines that follow. */
export function writeResolvConf(address: string, ...lines: readonly string[]): ResolvConf {
  const folder = mkdtempSync(join(tmpdir(), "hamlet-names-"))
  const path = join(folder, "resolv.conf")
  // The process of the tests responds, which may stand still for a while. The resolver adapts its
  // time limit to name servers that respond at once, and so it has to ask again.
  const all = [`nameserver ${address}`, "options timeout:5 attempts:8", ...lines, ""]
  writeFileSync(path, all.join("\n"))
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
  return {
    command: ["unshare", "--mount", "sh", "-c", script, path],
    remove: () => rmSync(folder, { recursive: true }),
  }
}
