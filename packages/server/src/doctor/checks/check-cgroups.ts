import { accessSync, constants, readFileSync } from "node:fs"
import { join } from "node:path"
import {
  Cgroups,
  type Controller,
  findOwnGroups,
  type OwnGroup,
  sandboxLimits,
} from "@hamlet/sandbox"
import type { Config } from "../../config/config.ts"
import { about, type Findings } from "../finding.ts"

const wanted: readonly Controller[] = ["memory", "pids", "cpu"]
const mend =
  "start the server where it may make groups: as root, or as a systemd service with Delegate=yes; without them the server looks at its sandboxes itself, which is slower and less exact"

/** Whether the kernel can enforce the limits of sandboxes. */
export async function checkCgroups(_config: Config): Promise<Findings> {
  const groups = findOwnGroups()
  if (groups.length === 0)
    return about("cgroups").warning("this process is in no group that it can see", mend)
  return groups.every(({ version }) => version === 1) ? tryOut() : look(groups)
}

/** Version 1: creates and removes a group, which has no side effects. */
async function tryOut(): Promise<Findings> {
  const cgroups = await Cgroups.create(
    `hamlet-doctor-${process.pid}`,
    sandboxLimits,
    () => {},
    true,
  )
  await cgroups.stop()
  const found = `version 1: ${cgroups.details.join("; ")}`
  return wanted.every((controller) => cgroups.has(controller))
    ? about("cgroups").fine(found)
    : about("cgroups").warning(found, mend)
}

/** Version 2: only inspected, because using it would move the calling process to another group. */
function look(groups: readonly OwnGroup[]): Findings {
  const usable = groups.filter(isWritable)
  const had = wanted.filter((controller) =>
    usable.some(({ controllers }) => controllers.includes(controller)),
  )
  const missing = wanted.filter((controller) => !had.includes(controller))
  const places = groups
    .map(
      (group) =>
        `version ${group.version} at ${group.folder}${isWritable(group) ? "" : ", not writable"}`,
    )
    .join("; ")
  if (missing.length > 0)
    return about("cgroups").warning(`${places}; cannot be had: ${missing.join(", ")}`, mend)
  const busy = usable.filter((group) => group.version === 2 && !isHandedDown(group))
  const note = busy.length > 0 ? "; the server will move itself to a group below this one" : ""
  return about("cgroups").fine(`${places}; ${had.join(", ")}${note}`)
}

function isWritable({ folder, version }: OwnGroup): boolean {
  try {
    accessSync(folder, constants.W_OK)
    if (version === 2)
      for (const name of ["cgroup.procs", "cgroup.subtree_control"])
        accessSync(join(folder, name), constants.W_OK)
    return true
  } catch {
    return false
  }
}

function isHandedDown({ folder, controllers }: OwnGroup): boolean {
  const enabled = readFileSync(join(folder, "cgroup.subtree_control"), "utf8").trim().split(" ")
  return controllers.every((controller) => enabled.includes(controller))
}
