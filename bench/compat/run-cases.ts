import type { ApiGroup } from "./api-check.ts"
import { toModule } from "./api-check.ts"
import type { ServerCheck } from "./apis/servers.ts"
import type { Failure, Host } from "./outcome.ts"
import {
  type PackageCase,
  type ServiceAddresses,
  toPackage,
  toPackages,
  type UsedPackage,
} from "./package-case.ts"
import type { PackageTopic } from "./package-cases.ts"

/** The two places in which cases run. */
export interface Hosts {
  readonly deno: Host
  readonly hamlet: Host
}

/** What came of a case on each host. */
export interface PackageResult {
  readonly topic: string
  readonly name: string
  readonly version: string
  /** All packages of the case. */
  readonly packages: readonly UsedPackage[]
  readonly deno?: Failure
  readonly hamlet?: Failure
  /** Why it ran on neither. */
  readonly notRun?: string
}

/** What came of a check on each host. */
export interface ApiResult {
  readonly group: string
  readonly name: string
  readonly deno: Failure
  readonly hamlet: Failure
}

/** Runs the cases, some at a time, in both places. `report` gets each result when it is there. */
export async function runPackages(
  topics: readonly PackageTopic[],
  hosts: Hosts,
  addresses: ServiceAddresses,
  { atOnce, report }: { atOnce: number; report(result: PackageResult): void },
): Promise<PackageResult[]> {
  const cases = topics.flatMap(({ title, cases }) => cases.map((useCase) => ({ title, useCase })))
  const results: PackageResult[] = []
  let next = 0
  const work = async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const { title, useCase } = cases[index] as (typeof cases)[number]
      const result = await runOne(title, useCase, hosts, addresses)
      results[index] = result
      report(result)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return results
}

async function runOne(
  topic: string,
  useCase: PackageCase,
  { deno, hamlet }: Hosts,
  addresses: ServiceAddresses,
): Promise<PackageResult> {
  const row = { topic, ...toPackage(useCase), packages: toPackages(useCase) }
  const missing = useCase.needs?.filter((service) => addresses[service] === undefined) ?? []
  if (missing.length > 0)
    return { ...row, notRun: `this machine does not have ${missing.join(" and ")}` }
  return {
    ...row,
    deno: await deno.runPackage(useCase).catch(toFailure),
    hamlet: await hamlet.runPackage(useCase).catch(toFailure),
  }
}

/** Runs the checks that are servers, in both places. */
export async function runServers(
  checks: readonly ServerCheck[],
  { deno, hamlet }: Hosts,
): Promise<ApiResult[]> {
  const results: ApiResult[] = []
  for (const { name, server } of checks)
    results.push({
      group: "Web servers",
      name,
      deno: await deno.runPackage(server).catch(toFailure),
      hamlet: await hamlet.runPackage(server).catch(toFailure),
    })
  return results
}

/** Runs the checks of each group, in both places. */
export async function runApis(
  groups: readonly ApiGroup[],
  { deno, hamlet }: Hosts,
): Promise<ApiResult[]> {
  const results: ApiResult[] = []
  for (const group of groups) {
    const [code, count] = [toModule(group), group.checks.length]
    const onDeno = await deno.runChecks(code, count)
    const onHamlet = await hamlet.runChecks(code, count)
    for (const [index, { name }] of group.checks.entries())
      results.push({ group: group.title, name, deno: onDeno[index], hamlet: onHamlet[index] })
  }
  return results
}

function toFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
