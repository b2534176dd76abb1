import { existsSync, readFileSync } from "node:fs"
import type { IsolationReport } from "./sandboxes.ts"

const install =
  "install bubblewrap (bubblewrap is its package on Debian, Ubuntu, Fedora, Arch and Alpine)"

/** What the operator can do to make bubblewrap work. `details` say why it does not. */
export function adviseOnBubblewrap(details: readonly string[]): string {
  const all = details.join(" ")
  if (all.includes("is not installed"))
    return all.includes("setpriv")
      ? "install util-linux, or do not run the server as root"
      : install
  if (all.includes("needs Linux")) return "run Hamlet on Linux if strangers may save vals"
  return adviseOnNamespaces() ?? "docs/self-hosting.md says what sandboxes need"
}

/** What the operator has to know about weak isolation, in sentences; empty for bubblewrap. */
export function listIsolationWarnings(
  { level, details }: IsolationReport,
  isChosen: boolean,
): readonly string[] {
  if (level === "bubblewrap") return []
  const warnings = [
    "Vals are isolated by Deno's permissions alone, which is weak: run only code that you trust",
    "Vals have no network at this level: fetch, WebSocket, std/blob and std/sqlite fail",
  ]
  if (isChosen) return warnings
  return [
    ...warnings,
    `This server is for one user on this machine only; ${adviseOnBubblewrap(details)} and start it again, or set HAMLET_ISOLATION=deno to lift that`,
  ]
}

const switches = [
  {
    path: "/proc/sys/kernel/unprivileged_userns_clone",
    bad: "0",
    fix: "sysctl kernel.unprivileged_userns_clone=1",
  },
  {
    path: "/proc/sys/user/max_user_namespaces",
    bad: "0",
    fix: "sysctl user.max_user_namespaces=15000",
  },
  {
    path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    bad: "1",
    fix: "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give bwrap a profile with userns",
  },
]

function adviseOnNamespaces(): string | undefined {
  const off = switches.filter(
    ({ path, bad }) => existsSync(path) && readFileSync(path, "utf8").trim() === bad,
  )
  if (off.length > 0) return `allow user namespaces: ${off.map(({ fix }) => fix).join("; ")}`
  if (existsSync("/.dockerenv") || existsSync("/run/.containerenv"))
    return "the container forbids what bubblewrap needs: start it with --security-opt seccomp=unconfined and --cap-add SYS_ADMIN, or run Hamlet outside of it"
  return undefined
}
