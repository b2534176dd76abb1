import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { Config } from "../config.ts"
import { AppError } from "../domain/app-error.ts"
import { findDeno } from "../runtime/find-deno.ts"
import { Cgroups } from "../runtime/sandbox/cgroups.ts"
import { sandboxLimits } from "../runtime/sandbox/sandbox-limits.ts"
import { type IsolationReport, Sandboxes } from "../runtime/sandbox/sandboxes.ts"
import { type Finding, failure, fine, warning } from "./finding.ts"

/** Starts one sandbox as a server would, and ends it: whether a wall stands shows only when it is tried. */
export async function checkIsolation(config: Config): Promise<readonly Finding[]> {
  try {
    return [judge(config, await tryOut(config))]
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return [failure("isolation", error.message, adviseOn([error.message], config))]
  }
}

/** Control groups are looked at separately: with version 2, using them would move whoever called us to another group. */
async function tryOut(config: Config): Promise<IsolationReport> {
  const sandboxes = await Sandboxes.create(
    {
      isolation: config.isolation,
      dataDir: config.dataDir,
      baseUrl: config.baseUrl,
      importHosts: [],
      limits: sandboxLimits,
      denoPath: findDeno(),
      guestPath: fileURLToPath(import.meta.resolve("@hamlet/guest/main")),
      usesCgroups: false,
      sweeps: false,
    },
    () => {},
  )
  try {
    const { details: aboutGroups } = await Cgroups.create("none", sandboxLimits, () => {}, false)
    const { level, details } = sandboxes.report
    return { level, details: details.filter((detail) => !aboutGroups.includes(detail)) }
  } finally {
    await sandboxes.stop()
  }
}

function judge(config: Config, { level, details }: IsolationReport): Finding {
  const found = `${level}: ${details.join("; ")}`
  if (level === "bubblewrap") {
    const isFiltered = !details.some((detail) => detail.includes("not filtered"))
    return isFiltered ? fine("isolation", found) : warning("isolation", found, "run Hamlet on x64 or arm64 if strangers may save vals")
  }
  const mend = adviseOn(details, config)
  const isLoopback = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/.test(config.host)
  if (isLoopback || config.isolation === "deno") return warning("isolation", `WEAK, ${found}`, mend)
  return failure("isolation", `${found}; the server refuses to listen on ${config.host} like this`, mend)
}

const install = "install bubblewrap (bubblewrap is its package on Debian, Ubuntu, Fedora, Arch and Alpine)"

/** What stands in the way of the better wall. */
function adviseOn(details: readonly string[], config: Config): string {
  if (config.isolation === "deno") return "HAMLET_ISOLATION is deno: leave it out, and run only code that you trust until then"
  const all = details.join(" ")
  if (all.includes("is not installed")) return all.includes("setpriv") ? "install util-linux, or do not run the server as root" : install
  if (all.includes("needs Linux")) return "run Hamlet on Linux if strangers may save vals"
  return adviseOnNamespaces() ?? "docs/self-hosting.md says what sandboxes need"
}

const switches = [
  { path: "/proc/sys/kernel/unprivileged_userns_clone", bad: "0", mend: "sysctl kernel.unprivileged_userns_clone=1" },
  { path: "/proc/sys/user/max_user_namespaces", bad: "0", mend: "sysctl user.max_user_namespaces=15000" },
  {
    path: "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    bad: "1",
    mend: "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or give bwrap a profile with userns",
  },
]

function adviseOnNamespaces(): string | undefined {
  const off = switches.filter(({ path, bad }) => existsSync(path) && readFileSync(path, "utf8").trim() === bad)
  if (off.length > 0) return `allow user namespaces: ${off.map(({ mend }) => mend).join("; ")}`
  if (existsSync("/.dockerenv") || existsSync("/run/.containerenv"))
    return "the container forbids what bubblewrap needs: start it with --security-opt seccomp=unconfined and --cap-add SYS_ADMIN, or run Hamlet outside of it"
  return undefined
}
