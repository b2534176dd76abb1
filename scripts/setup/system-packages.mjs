import { existsSync, rmSync, writeFileSync } from "node:fs"
import { runStep } from "../child.mjs"
import {
  findBubblewrap,
  findChromium,
  findHeadlessShell,
  findLibfaketime,
  findOnPath,
  findPerlTls,
  findPostgresBin,
  findServer,
} from "./programs.mjs"

/**
 * @typedef {object} Requirement
 * @property {string} name
 * @property {string} debianPackage
 * @property {string} suites
 * @property {() => string | undefined} find
 * @property {() => string | undefined} [findPackaged] what the Debian package contains, where `find`
 * also accepts something slower
 */

/** What the tests need besides npm packages, and which suites need it. */
export const requirements = {
  postgres: {
    name: "PostgreSQL",
    debianPackage: "postgresql",
    suites: "every suite on PostgreSQL",
    find: findPostgresBin,
  },
  chromium: {
    name: "Chromium",
    debianPackage: "chromium-headless-shell",
    suites: "the browser suites",
    find: findChromium,
    findPackaged: findHeadlessShell,
  },
  bubblewrap: {
    name: "bubblewrap",
    debianPackage: "bubblewrap",
    suites: "the suites of bubblewrap isolation",
    find: findBubblewrap,
  },
  kernelHeaders: {
    name: "the kernel's headers",
    debianPackage: "linux-libc-dev",
    suites: "the comparison of our system call numbers with the kernel's",
    find: () => ["/usr/include/asm-generic/unistd.h"].find((path) => existsSync(path)),
  },
  libfaketime: {
    name: "libfaketime",
    debianPackage: "libfaketime",
    suites: "the suite of schedules on nodes with wrong clocks",
    find: findLibfaketime,
  },
  nginx: {
    name: "nginx",
    debianPackage: "nginx",
    suites: "the suites of the proxy recipe and of several nodes behind a proxy",
    find: () => findServer("nginx"),
  },
  haproxy: {
    name: "HAProxy",
    debianPackage: "haproxy",
    suites: "the suite of several nodes behind a proxy",
    find: () => findServer("haproxy"),
  },
  caddy: {
    name: "Caddy",
    debianPackage: "caddy",
    suites: "the suite of several nodes behind a proxy",
    find: () => findOnPath("caddy"),
  },
  promtool: {
    name: "promtool",
    debianPackage: "prometheus",
    suites: "the check of the alerts in deploy/",
    find: () => findOnPath("promtool"),
  },
  systemdAnalyze: {
    name: "systemd-analyze",
    debianPackage: "systemd",
    suites: "the check of the units in deploy/",
    find: () => findOnPath("systemd-analyze"),
  },
  swaks: {
    name: "swaks",
    debianPackage: "swaks",
    suites: "the suite that receives mail from swaks",
    find: () => findOnPath("swaks"),
  },
  perlTls: {
    name: "Net::SSLeay of Perl",
    // Debian's swaks only recommends it, and recommended packages are not installed.
    debianPackage: "libnet-ssleay-perl",
    suites: "the suite that receives mail from swaks, which uses TLS",
    find: findPerlTls,
  },
  curl: {
    name: "curl",
    debianPackage: "curl",
    suites: "the tour and the suites of the command line, which send requests with it",
    find: () => findOnPath("curl"),
  },
  git: {
    name: "git",
    debianPackage: "git",
    suites: "the suites of differences, of upgrades and of what a release contains",
    find: () => findOnPath("git"),
  },
  openssl: {
    name: "OpenSSL",
    debianPackage: "openssl",
    suites: "every suite with certificates of its own",
    find: () => findOnPath("openssl"),
  },
}

/**
 * Installs what is missing as root on Debian; elsewhere prints what to install.
 * @param {Requirement[]} wanted
 * @returns {Promise<Requirement[]>} what is still missing
 */
export async function ensureSystemPackages(wanted) {
  const missing = wanted.filter(({ find, findPackaged = find }) => findPackaged() === undefined)
  if (missing.length === 0) return []
  if (process.getuid?.() === 0 && findOnPath("apt-get"))
    await installWithApt(missing.map((requirement) => requirement.debianPackage))
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
  return [
    "These tests do not run, because a program is missing:",
    ...missing.map(({ name, suites }) => `  ${name}: ${suites}`),
    `On Debian, install them as root: apt-get install ${missing.map((it) => it.debianPackage).join(" ")}`,
  ].join("\n")
}

/** Fails fast without a network, and fetches no translated descriptions of packages. */
export const aptOptions = [
  "--quiet",
  "-o",
  "Acquire::Languages=none",
  "-o",
  "APT::Get::List-Cleanup=false",
  "-o",
  "Acquire::Retries=0",
  "-o",
  "Acquire::http::Timeout=15",
  "-o",
  "Acquire::https::Timeout=15",
]

/** @param {string[]} packages */
export async function installWithApt(packages) {
  console.error(`Installing ${packages.join(", ")} with apt-get …`)
  const allowServices = forbidServices()
  try {
    const install = ["install", "--yes", "--no-install-recommends", ...packages]
    // The package list is fetched only if the present one does not suffice: that saves seconds, and
    // works offline.
    if ((await runApt(install)).exitCode === 0) return
    console.error("Fetching the lists of Debian's packages with apt-get …")
    await runApt(["update"])
    const { exitCode, output } = await runApt(install)
    if (exitCode !== 0) console.error(`${output}apt-get could not install ${packages.join(", ")}`)
  } finally {
    allowServices()
  }
}

/** @param {string[]} args */
function runApt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" }
  return runStep(`apt-get ${args[0]}`, "apt-get", [...aptOptions, ...args], { env })
}

/**
 * Debian's postgresql starts a server when it is installed. The tests need only its programs, and
 * must not start services. Debian's invoke-rc.d consults this file for permission.
 */
function forbidServices() {
  const policy = "/usr/sbin/policy-rc.d"
  if (existsSync(policy)) return () => {}
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 })
  return () => rmSync(policy, { force: true })
}
