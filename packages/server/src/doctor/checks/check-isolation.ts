import {
  adviseOnBubblewrap,
  Cgroups,
  type IsolationReport,
  Sandboxes,
  sandboxLimits,
} from "@hamlet/sandbox"
import { findDeno } from "../../../../../scripts/find-deno.ts"
import { type Config, isForOthers } from "../../config/config.ts"
import { AppError } from "../../domain/app-error.ts"
import { about, type Findings } from "../finding.ts"

/**
 * Starts one sandbox as a server would, and stops it: only a trial shows whether the isolation
 * works.
 */
export async function checkIsolation(config: Config): Promise<Findings> {
  try {
    return judge(config, await tryOut(config))
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return about("isolation").failure(error.message, adviseOn([error.message], config))
  }
}

/**
 * Another check covers control groups: with version 2, using them would move the calling process to
 * another group.
 */
async function tryOut(config: Config): Promise<IsolationReport> {
  const sandboxes = await Sandboxes.create(
    {
      isolation: config.isolation,
      dataDir: config.dataDir,
      baseUrl: config.baseUrl,
      importHosts: [],
      limits: sandboxLimits,
      denoPath: findDeno(),
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

function judge(config: Config, { level, details }: IsolationReport): Findings {
  const found = `${level}: ${details.join("; ")}`
  if (level === "bubblewrap") {
    const isFiltered = !details.some((detail) => detail.includes("not filtered"))
    return isFiltered
      ? about("isolation").fine(found)
      : about("isolation").warning(found, "run Hamlet on x64 or arm64 if strangers may save vals")
  }
  const mend = adviseOn(details, config)
  if (!isForOthers(config) || config.isolation === "deno")
    return about("isolation").warning(`WEAK, ${found}; vals have no network`, mend)
  return about("isolation").failure(
    `${found}; the server then refuses to serve other machines`,
    mend,
  )
}

/** How to get the stronger isolation. */
function adviseOn(details: readonly string[], config: Config): string {
  if (config.isolation === "deno")
    return "HAMLET_ISOLATION is deno: leave it out, and run only code that you trust until then"
  return adviseOnBubblewrap(details)
}
