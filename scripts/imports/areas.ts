/** A part of the repository with one place in the drawing of ARCHITECTURE.md. */
export type Area = {
  readonly name: string
  /** A folder, with a slash at its end, or one file. */
  readonly path: string
  /** The names of the areas it may import, beside itself. */
  readonly mayImport: readonly string[]
  /** The files that others may import, where that is not all of them. */
  readonly doors?: readonly Door[]
}

/** An entry of a package with walls: the name by which it is imported, and its file. */
interface Door {
  readonly name: string
  readonly path: string
}

/** A package with walls: others import its index, and their tests what it offers for tests as well. */
function toPackage(
  name: string,
  mayImport: readonly string[],
  more: Readonly<Record<string, string>> = {},
): Area {
  const path = `packages/${name}/`
  const files = { "": "src/index.ts", "/testing": "src/testing/index.ts", ...more }
  const doors = Object.entries(files).map(([suffix, file]) => ({
    name: `@hamlet/${name}${suffix}`,
    path: path + file,
  }))
  return { name, path, mayImport, doors }
}

const serverLayers = ["http", "gateway", "jobs", "mail", "runtime", "storage"]
const packages = ["http1", "kit", "npm", "owner-databases", "page", "sandbox"]
const server = ["config", "database", "domain", "shared", ...packages, ...serverLayers]
const all = ["contract", "cli", "find-deno", "std", "web", ...server]

/**
 * Who may import whom: the whole import rule is this table. A source file that is in no area is
 * refused, so that a new folder gets a row here, and with it a thought.
 */
const areas: readonly Area[] = [
  // Mechanisms that know nothing of vals: queues, limits, loops, threads, tracing.
  toPackage("kit", []),
  // What a page of a list is. The rest of the package is for code with SQL.
  { name: "page", path: "packages/database/src/page.ts", mayImport: ["kit"] },
  // One SQL for SQLite and PostgreSQL. Only the one that is used is loaded.
  toPackage("database", ["kit", "page"], {
    "/postgres": "src/postgres/index.ts",
    "/sqlite": "src/sqlite/index.ts",
  }),
  // HTTP/1.1 on sockets.
  toPackage("http1", ["kit"]),
  // Runs programs of strangers. Their side of it is the guest.
  toPackage("sandbox", ["find-deno", "guest", "http1", "kit"], {
    "/worker": "src/worker-processes/serve-requests.ts",
  }),
  // The SQLite databases of users. Few servers need the home on a libSQL server, so that is loaded late.
  toPackage("owner-databases", ["http1", "kit", "sandbox"], {
    "/libsql": "src/libsql/libsql-databases.ts",
  }),
  // The packages that code imports: resolved, bundled, with their types.
  toPackage("npm", ["kit", "sandbox"], { "/tool": "src/tool/serve-resolve.ts" }),
  { name: "contract", path: "packages/contract/", mayImport: [] },
  { name: "guest", path: "packages/guest/", mayImport: [] },
  { name: "std", path: "packages/std/", mayImport: [] },
  { name: "web", path: "packages/web/", mayImport: ["contract", "find-deno"] },
  { name: "cli", path: "packages/cli/", mayImport: ["contract"] },
  // What several layers need and is no rule about vals: headers and cookies.
  { name: "shared", path: "packages/server/src/shared/", mayImport: ["http1", "kit"] },
  {
    name: "domain",
    path: "packages/server/src/domain/",
    mayImport: ["contract", "shared", ...packages],
  },
  // The one layer with SQL.
  {
    name: "storage",
    path: "packages/server/src/storage/",
    mayImport: ["contract", "database", "domain", "shared", ...packages],
  },
  ...serverLayers.map((name) => ({
    name,
    path: `packages/server/src/${name}/`,
    mayImport: ["contract", "domain", "shared", ...packages],
  })),
  { name: "config", path: "packages/server/src/config/", mayImport: ["contract"] },
  // The composition root: compose.ts builds the program from one file per noun.
  { name: "composition", path: "packages/server/src/composition/", mayImport: all },
  {
    name: "compose",
    path: "packages/server/src/compose.ts",
    mayImport: ["composition", ...all],
  },
  // Inspects the machine and the data without starting a server.
  { name: "doctor", path: "packages/server/src/doctor/", mayImport: all },
  {
    name: "commands",
    path: "packages/server/src/commands/",
    mayImport: ["compose", "doctor", ...all],
  },
  {
    name: "main",
    path: "packages/server/src/main.ts",
    mayImport: ["commands", "config"],
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

/** Tests, and what only they share, may look behind the walls of their own package. */
export function isTest(path: string): boolean {
  return /\.test\.[a-z]+$/.test(path) || /^packages\/[^/]+\/(test|src\/(.*\/)?testing)\//.test(path)
}
