import { existsSync } from "node:fs"
import { tryReadText } from "@hamlet/kit"
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
  if (all.includes("needs Linux")) return "run Hamlet on Linux if strangers may run code"
  return adviseOnNamespaces() ?? "give it what sandboxes need (docs/self-hosting.md#isolation)"
}

/** What the operator has to know about weak isolation, in sentences; empty for bubblewrap. */
export function listIsolationWarnings(
  { level, details }: IsolationReport,
  isChosen: boolean,
): readonly string[] {
  if (level === "bubblewrap") return []
  const warnings = [
    "Programs are isolated by Deno's permissions alone, which is weak: run only code that you trust",
    "Programs have no network at this level: fetch, WebSocket, std/blob and std/sqlite fail",
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
  const off = switches.filter(({ path, bad }) => tryReadText(path).trim() === bad)
  if (off.length > 0) return `allow user namespaces: ${off.map(({ fix }) => fix).join("; ")}`
  const missing = listMissingFlags()
  return missing.length > 0 ? `start the container with ${missing.join(" ")}` : undefined
}

/** What a container runtime has left in the files of the system. */
export interface ContainerFacts {
  /** Whether this process is in a container at all. */
  readonly isContainer: boolean
  /** /proc/self/status */
  readonly status: string
  /** /proc/self/mountinfo */
  readonly mounts: string
  /** The AppArmor profile of this process; empty without one. */
  readonly profile: string
}

/** The flags of Podman and Docker that allow what bubblewrap needs. */
const flags = {
  seccomp: "--security-opt seccomp=unconfined",
  paths: "--security-opt systempaths=unconfined",
  profile: "--security-opt apparmor=unconfined",
}

/**
 * The flags with which the container has to be started again, so that bubblewrap works in it. Empty
 * outside of a container, and when none is missing.
 */
export function listMissingFlags(facts: ContainerFacts = readContainerFacts()): readonly string[] {
  if (!facts.isContainer) return []
  const missing: string[] = []
  // The filter of the runtime. It refuses to create namespaces and to mount.
  if (/^Seccomp:\s*2$/m.test(facts.status)) missing.push(flags.seccomp)
  // Mounts over parts of /proc keep the kernel from limiting namespaces in a sandbox.
  if (/^(?:\S+ ){4}\/proc\/\S/m.test(facts.mounts)) missing.push(flags.paths)
  if (/\(enforce\)/.test(facts.profile)) missing.push(flags.profile)
  return missing
}

function readContainerFacts(): ContainerFacts {
  const mounts = tryReadText("/proc/self/mountinfo")
  return {
    // Docker, Podman and other runtimes on Kubernetes; the last has no file of its own.
    isContainer:
      existsSync("/.dockerenv") ||
      existsSync("/run/.containerenv") ||
      existsSync("/var/run/secrets/kubernetes.io"),
    status: tryReadText("/proc/self/status"),
    mounts,
    profile:
      tryReadText("/proc/self/attr/apparmor/current") || tryReadText("/proc/self/attr/current"),
  }
}
