import { spawnSync } from "node:child_process"
import { existsSync, rmSync, writeFileSync } from "node:fs"
import { findChromium, findNginx, findOnPath, findPostgresBin } from "./programs.mjs"

/** @typedef {{ name: string, debianPackage: string, suites: string, find: () => string | undefined }} Requirement */

/** What the tests need beside npm packages, and what they cannot show without it. */
export const requirements = {
  postgres: {
    name: "PostgreSQL",
    debianPackage: "postgresql",
    suites: "every suite on PostgreSQL",
    find: findPostgresBin,
  },
  chromium: {
    name: "Chromium",
    debianPackage: "chromium",
    suites: "the browser suites",
    find: findChromium,
  },
  bubblewrap: {
    name: "bubblewrap",
    debianPackage: "bubblewrap",
    suites: "the suites of bubblewrap isolation",
    find: () => findOnPath("bwrap"),
  },
  kernelHeaders: {
    name: "the kernel's headers",
    debianPackage: "linux-libc-dev",
    suites: "the comparison of our system call numbers with the kernel's",
    find: () => ["/usr/include/asm-generic/unistd.h"].find((path) => existsSync(path)),
  },
  nginx: {
    name: "nginx",
    debianPackage: "nginx",
    suites: "the suite of the proxy recipe",
    find: findNginx,
  },
}

/**
 * Installs what is missing where we may (root on Debian); elsewhere says what to install.
 * @param {Requirement[]} wanted
 * @returns {Requirement[]} what is still missing
 */
export function ensureSystemPackages(wanted) {
  const missing = listMissing(wanted)
  if (missing.length === 0) return []
  if (process.getuid?.() === 0 && findOnPath("apt-get"))
    installWithApt(missing.map((requirement) => requirement.debianPackage))
  const stillMissing = listMissing(wanted)
  if (stillMissing.length > 0) console.error(toAdvice(stillMissing))
  return stillMissing
}

/** @param {Requirement[]} wanted */
function listMissing(wanted) {
  return wanted.filter((requirement) => requirement.find() === undefined)
}

/** @param {Requirement[]} missing */
function toAdvice(missing) {
  const names = missing.map((requirement) => requirement.name).join(" and ")
  const suites = missing.map((requirement) => requirement.suites).join(", ")
  return `Install ${names} to run all tests; until then these do not run: ${suites}`
}

/** A network that does not answer is not waited for. */
export const aptOptions = [
  "--quiet",
  "-o",
  "Acquire::Retries=0",
  "-o",
  "Acquire::http::Timeout=15",
  "-o",
  "Acquire::https::Timeout=15",
]

/** @param {string[]} packages */
export function installWithApt(packages) {
  console.error(`Installing ${packages.join(", ")} with apt-get …`)
  const allowServices = forbidServices()
  try {
    const install = ["install", "--yes", "--no-install-recommends", ...packages]
    // The list of packages is fetched only when the one at hand does not do: that saves seconds,
    // and works without a network.
    if (runApt(install).status === 0) return
    runApt(["update"])
    const second = runApt(install)
    if (second.status !== 0)
      console.error(
        `${second.stdout}${second.stderr}apt-get could not install ${packages.join(", ")}`,
      )
  } finally {
    allowServices()
  }
}

/** @param {string[]} args */
function runApt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  return spawnSync("apt-get", [...aptOptions, ...args], {
    encoding: "utf8",
    env,
    stdio: ["ignore", "pipe", "pipe"],
  })
}

/**
 * Debian's postgresql starts a server as soon as it is installed. We want its programs only: what
 * runs on this machine is not ours to decide. The file is the one that Debian's invoke-rc.d asks
 * for permission.
 */
function forbidServices() {
  const policy = "/usr/sbin/policy-rc.d"
  if (existsSync(policy)) return () => {}
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  return () => rmSync(policy, { force: true })
}
