// npm run check: all automatic checks. With `-- --fix`, problems that can be fixed automatically
// are fixed first.
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { runCaptured } from "./child.mjs"
import { ensurePackages } from "./setup/packages.mjs"
import { bun, root } from "./setup/root.mjs"

/** @typedef {{ name: string, commands: string[][] }} Step */

/** Code for sandboxes runs on Deno, and only Deno has its types. */
const denoTypes = [
  toDenoCheck("packages/guest", "src/main.ts", "src/worker.ts"),
  toDenoCheck("packages/std", ...listStandardModules()),
]

// By its path: the TypeScript that the web app bundles for browsers has a binary of the same name.
const tsc = join(root, "node_modules", "typescript", "bin", "tsc")

await ensurePackages({ dev: true })
if (process.argv.includes("--fix")) await fix()
const hasFailed = await check()
process.exitCode = hasFailed ? 1 : 0

/** The checks that follow report what these cannot fix. */
async function fix() {
  await runCommand([toTool("biome"), "check", "--write"])
  await runCommand([bun, "scripts/tidy/tidy.ts", "--fix"])
}

/** Runs every step even if one fails, to report all problems at once. */
async function check() {
  let hasFailed = false
  for (const step of listSteps()) {
    const { isGood, output, seconds } = await runStep(step)
    console.log(`${isGood ? "✓" : "✗"} ${step.name} (${seconds.toFixed(1)} s)`)
    if (!isGood) console.log(output.trimEnd())
    hasFailed ||= !isGood
  }
  return hasFailed
}

function listStandardModules() {
  return readdirSync(join(root, "packages/std/src")).map((file) => `src/${file}`)
}

/** @returns {Step[]} */
function listSteps() {
  return [
    {
      name: "format and lint",
      commands: [[toTool("biome"), "check", "--error-on-warnings", "--max-diagnostics=30"]],
    },
    { name: "imports", commands: [[bun, "scripts/imports/check-imports.ts"]] },
    {
      name: "types",
      commands: [
        ...listTypeScriptProjects().map((folder) => [tsc, "--project", folder]),
        ...denoTypes,
      ],
    },
    { name: "dead code", commands: [[toTool("knip"), "--no-progress"]] },
    { name: "tidy", commands: [[bun, "scripts/tidy/tidy.ts"]] },
  ]
}

/** The root, and each package with its own type environment, such as the guest. */
function listTypeScriptProjects() {
  const packages = readdirSync(join(root, "packages")).map((name) => join("packages", name))
  return [".", ...packages.filter((folder) => existsSync(join(root, folder, "tsconfig.json")))]
}

/** @param {string} folder @param {string[]} files */
function toDenoCheck(folder, ...files) {
  return [
    toTool("deno"),
    "check",
    "--quiet",
    "--no-lock",
    "--config",
    `${folder}/deno.json`,
    ...files.map((file) => `${folder}/${file}`),
  ]
}

/** @param {string} name */
function toTool(name) {
  return join(root, "node_modules", ".bin", name)
}

/** @param {Step} step */
async function runStep(step) {
  const startedAt = performance.now()
  let output = ""
  let isGood = true
  for (const command of step.commands) {
    const ended = await runCommand(command)
    output += ended.output
    isGood &&= ended.exitCode === 0
  }
  return { isGood, output, seconds: (performance.now() - startedAt) / 1000 }
}

/** @param {string[]} command */
async function runCommand([program = "", ...args]) {
  const colour = process.stdout.isTTY ? { FORCE_COLOR: "1" } : {}
  return await runCaptured(program, args, { cwd: root, env: { ...process.env, ...colour } })
}
