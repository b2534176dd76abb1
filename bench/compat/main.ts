import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { createScratchFolder } from "../harness/scratch.ts"
import { startHamlet } from "../runs/hamlet.ts"
import type { ApiGroup } from "./api-check.ts"
import { apiGroups } from "./api-groups.ts"
import { servers } from "./apis/servers.ts"
import { DenoHost } from "./deno-host.ts"
import {
  countPassed,
  findUnclear,
  writeApis,
  writeCombinations,
  writePackages,
} from "./document.ts"
import { toLine } from "./outcome.ts"
import { type PackageCase, toPackage, toPackages } from "./package-case.ts"
import { combinations, type PackageTopic, packageTopics } from "./package-cases.ts"
import {
  type ApiResult,
  type PackageResult,
  runApis,
  runPackages,
  runServers,
} from "./run-cases.ts"
import { startDaemons } from "./services/daemons.ts"
import { startServices } from "./services/services.ts"
import { ValHost } from "./val-host.ts"

const usage = `npm run compat -- [names] [options]
  names         packages, or parts of the names of APIs; without names: everything
  --packages    only the packages, one by one
  --together    only the vals with several packages
  --apis        only the APIs
  --at-once N   packages at the same time (2)
  --write       write the tables into docs/compatibility.md; not together with names`

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    packages: { type: "boolean", default: false },
    together: { type: "boolean", default: false },
    apis: { type: "boolean", default: false },
    "at-once": { type: "string", default: "2" },
    write: { type: "boolean", default: false },
    help: { type: "boolean" },
  },
})
if (values.help) console.log(usage)
else if (values.write && positionals.length > 0) throw new Error(`Cannot write a part\n${usage}`)
else {
  await main()
  // The services that are programs end with this process.
  process.exit(0)
}

async function main(): Promise<void> {
  const folder = createScratchFolder()
  const postgres = process.env.HAMLET_TEST_POSTGRES_URL
  const others = {
    ...(postgres === undefined ? {} : { postgres }),
    ...(await startDaemons(folder)),
  }
  const services = await startServices(others)
  const hamlet = await startHamlet({ ...services.settings, HAMLET_IDLE_SECONDS: "5" })
  // Kept between runs: the packages that Deno has fetched.
  const denoDir = join(import.meta.dir, "..", "..", "node_modules", ".cache", "compat")
  mkdirSync(denoDir, { recursive: true })
  const hosts = {
    deno: new DenoHost(folder, denoDir, services),
    hamlet: new ValHost({ url: hamlet.program.url, token: hamlet.token }, services.addresses),
  }
  try {
    const run = (topics: readonly PackageTopic[]) =>
      runPackages(choosePackages(topics, positionals), hosts, services.addresses, {
        atOnce: Number(values["at-once"]),
        report: printPackage,
      })
    const packages = values.apis || values.together ? [] : await run(packageTopics)
    const together = values.apis || values.packages ? [] : await run([combinations])
    const apis =
      values.packages || values.together
        ? []
        : [
            ...(await runApis(chooseApis(positionals), hosts)),
            ...(await runServers(chooseNamed(servers, positionals), hosts)),
          ]
    for (const result of apis) printApi(result)
    printTotals(packages, together, apis)
    if (values.write) {
      await writePackages(packages)
      await writeCombinations(together)
      await writeApis(apis)
    }
  } finally {
    await hamlet.stop()
    services.stop()
  }
}

/** A case is chosen by the name of its package; one with several by the name of any of them. */
function choosePackages(topics: readonly PackageTopic[], names: readonly string[]): PackageTopic[] {
  const isChosen = (one: PackageCase, title: string) =>
    title === combinations.title
      ? toPackages(one).some(({ name }) => names.includes(name))
      : names.includes(toPackage(one).name)
  return topics.map(({ title, cases }) => ({
    title,
    cases: cases.filter((one) => names.length === 0 || isChosen(one, title)),
  }))
}

function chooseApis(parts: readonly string[]): ApiGroup[] {
  return apiGroups
    .map((group) => ({ ...group, checks: chooseNamed(group.checks, parts) }))
    .filter(({ checks }) => checks.length > 0)
}

function chooseNamed<T extends { readonly name: string }>(
  checks: readonly T[],
  parts: readonly string[],
): T[] {
  return checks.filter(
    ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
  )
}

function printPackage({ topic, packages, deno, hamlet, notRun, ...one }: PackageResult): void {
  const names = topic === combinations.title ? packages : [one]
  console.log(
    `${names.map(({ name, version }) => `${name} ${version}`).join(", ")}: ${notRun === undefined ? toText(deno, hamlet) : `not run: ${notRun}`}`,
  )
}

function printApi({ name, deno, hamlet }: ApiResult): void {
  console.log(`${name}: ${toText(deno, hamlet)}`)
}

function toText(deno: string | undefined, hamlet: string | undefined): string {
  const toMark = (failure: string | undefined) =>
    failure === undefined ? "yes" : `no (${toLine(failure)})`
  return `Deno ${toMark(deno)}, Hamlet ${toMark(hamlet)}`
}

function printTotals(
  packages: readonly PackageResult[],
  together: readonly PackageResult[],
  apis: readonly ApiResult[],
): void {
  const ran = packages.filter(({ notRun }) => notRun === undefined)
  for (const [what, results] of [
    ["packages", ran],
    ["packages together", together],
    ["APIs", apis],
  ] as const)
    console.log(
      `${what}: Deno ${countPassed(results, "deno")} of ${results.length}, Hamlet ${countPassed(results, "hamlet")}, messages that an author cannot use: ${findUnclear<PackageResult | ApiResult>(results).length}`,
    )
}
