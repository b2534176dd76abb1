/** A part of the repository with one place in the drawing of ARCHITECTURE.md. */
export type Area = {
  readonly name: string
  /** A folder, with a slash at its end, or one file. */
  readonly path: string
  /** The names of the areas it may import, beside itself. */
  readonly mayImport: readonly string[]
}

const serverLayers = ["http", "gateway", "jobs", "runtime", "storage"]
const server = ["config", "domain", "shared", ...serverLayers]
const everyone = ["contract", "cli", "find-deno", "guest", "std", "web", ...server]

/**
 * Who may import whom: the whole import rule is this table. A source file that is in no area is
 * refused, so that a new folder gets a row here, and with it a thought.
 */
const areas: readonly Area[] = [
  { name: "contract", path: "packages/contract/", mayImport: [] },
  { name: "guest", path: "packages/guest/", mayImport: [] },
  { name: "std", path: "packages/std/", mayImport: [] },
  { name: "web", path: "packages/web/", mayImport: ["contract", "find-deno"] },
  { name: "cli", path: "packages/cli/", mayImport: ["contract"] },
  // What several layers need and is no rule of ours: algorithms, queues, threads.
  { name: "shared", path: "packages/server/src/shared/", mayImport: [] },
  { name: "domain", path: "packages/server/src/domain/", mayImport: ["contract", "shared"] },
  // What host and guest say to each other is written down with the guest; only the runtime talks to
  // it.
  {
    name: "runtime",
    path: "packages/server/src/runtime/",
    mayImport: ["contract", "domain", "guest", "shared"],
  },
  ...serverLayers.map((name) => ({
    name,
    path: `packages/server/src/${name}/`,
    mayImport: ["contract", "domain", "shared"],
  })),
  {
    name: "config",
    path: "packages/server/src/config.ts",
    mayImport: ["contract", "config-parts"],
  },
  { name: "config-parts", path: "packages/server/src/config/", mayImport: ["contract"] },
  // The composition root: the program is put together, is given a port, and is started.
  {
    name: "compose",
    path: "packages/server/src/compose.ts",
    mayImport: ["compose-runtime", "compose-stores", ...everyone],
  },
  { name: "compose-stores", path: "packages/server/src/compose-stores.ts", mayImport: everyone },
  {
    name: "compose-runtime",
    path: "packages/server/src/compose-runtime.ts",
    mayImport: ["compose-outside", ...everyone],
  },
  { name: "compose-outside", path: "packages/server/src/compose-outside.ts", mayImport: everyone },
  // Looks at what a server would be made of, without making one.
  { name: "doctor", path: "packages/server/src/doctor/", mayImport: everyone },
  { name: "listen", path: "packages/server/src/listen.ts", mayImport: ["compose", ...everyone] },
  { name: "restore", path: "packages/server/src/restore.ts", mayImport: ["contract", ...server] },
  {
    name: "admin-token",
    path: "packages/server/src/admin-token.ts",
    mayImport: ["compose", ...server],
  },
  { name: "stop-signals", path: "packages/server/src/stop-signals.ts", mayImport: [] },
  {
    name: "main",
    path: "packages/server/src/main.ts",
    mayImport: [
      "admin-token",
      "compose",
      "doctor",
      "listen",
      "restore",
      "stop-signals",
      ...everyone,
    ],
  },
  {
    name: "bench",
    path: "bench/",
    mayImport: ["contract", "compose", "find-deno", "web", ...server],
  },
  // The one file of scripts/ that programs use too.
  { name: "find-deno", path: "scripts/find-deno.ts", mayImport: [] },
  { name: "scripts", path: "scripts/", mayImport: ["contract", "config"] },
]

/** The area of a file, given by its path from the root. */
export function findArea(path: string): Area | undefined {
  return areas.find(
    (area) => path === area.path || (area.path.endsWith("/") && path.startsWith(area.path)),
  )
}

/** Tests may look behind the walls of their own package. */
export function isTest(path: string): boolean {
  return /\.test\.[a-z]+$/.test(path) || /^packages\/[^/]+\/test\//.test(path)
}
