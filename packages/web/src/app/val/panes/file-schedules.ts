import { unlessMissing } from "@hamlet/contract/client"
import { type Signal, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../../api.ts"
import type { Schedule } from "../../schedules/timing.ts"
import type { ValEditing } from "../code/val-editing.ts"

/** The schedules of the files of a val, by the ids of the files. */
export type FileSchedules = Signal<ReadonlyMap<string, Schedule>>

/**
 * In a val with more files of this type, the schedules of the others are read when they are shown.
 */
const limits = { filesMax: 10 }

/** Reads the schedules of the saved files of type interval, for their owner. */
export function useFileSchedules(editing: ValEditing, isOwn: boolean): FileSchedules {
  const schedules: FileSchedules = useSignal(new Map<string, Schedule>())
  const saved = editing.files.present.value
    .map((file) => file.saved.value)
    .filter((file) => file?.type === "interval")
    .flatMap((file) => (file ? [{ id: file.id, path: file.path }] : []))
    .slice(0, limits.filesMax)
  useEffect(() => {
    // One schedule needs no selector, and its pane reads it.
    if (!isOwn) return
    const controller = new AbortController()
    const read = async ({ id, path }: { readonly id: string; readonly path: string }) => {
      const place = { file: path, branch: editing.branch.peek().name }
      const found = await findSchedule(editing.val.peek().id, place, controller.signal)
      if (!controller.signal.aborted && found)
        schedules.value = new Map(schedules.peek()).set(id, found)
    }
    for (const file of saved) void read(file).catch(() => {})
    return () => controller.abort()
  }, [isOwn, saved.map(({ id, path }) => `${id} ${path}`).join()])
  return schedules
}

/** The schedule of a file, if it has one. */
export async function findSchedule(
  valId: string,
  place: { readonly file?: string; readonly branch: string },
  signal: AbortSignal,
): Promise<Schedule | undefined> {
  const found = api.getSchedule({ val_id: valId, ...place }, { signal })
  return unlessMissing(found, "schedule_not_found")
}
