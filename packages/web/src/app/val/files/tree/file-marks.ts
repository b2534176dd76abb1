import type { Item } from "@hamlet/contract/client"
import { type ReadonlySignal, type Signal, useComputed, useSignal } from "@preact/signals"
import { useEffect } from "preact/hooks"
import { api } from "../../../api.ts"
import { usePoll } from "../../../data/poll.ts"
import { viewer } from "../../../session/session.ts"
import type { ValTabProps } from "../../val-tab-props.ts"
import { findFailed } from "./find-failed.ts"

type Schedule = Item<"listMySchedules">

/** What is known about the files of a val besides their texts. */
export interface FileMarks {
  /** By the ids of files. */
  readonly schedules: ReadonlySignal<ReadonlyMap<string, Schedule>>
  /** The files whose last run failed. */
  readonly failed: ReadonlySignal<ReadonlySet<string>>
  /** How many problems files have, by path. */
  readonly problems: ReadonlySignal<ReadonlyMap<string, number>>
}

const limits = { pollMs: 20_000, schedulesMax: 100 }

/** Follows the schedules and the runs of a val while the tree is shown. */
export function useFileMarks({
  editing,
  recent,
  isOwn,
  problems,
}: Pick<ValTabProps, "editing" | "recent" | "isOwn" | "problems">): FileMarks {
  const schedules: Signal<ReadonlyMap<string, Schedule>> = useSignal(new Map())
  const hasIntervals = editing.files.present.value.some((file) => file.type.value === "interval")
  const { version } = editing.branch.value
  const refresh = async () => {
    if (viewer()) await recent.refresh()
    if (!isOwn || !hasIntervals) return
    const { data } = await api.listMySchedules({ limit: limits.schedulesMax })
    schedules.value = new Map(data.map((schedule) => [schedule.file.id, schedule]))
  }
  // A save may have changed what is scheduled. Without a response the marks stay as they are.
  useEffect(() => void refresh().catch(() => {}), [hasIntervals, version])
  usePoll(limits.pollMs, refresh)
  const failed = useComputed(() => findFailed(recent.runs.value))
  return { schedules, failed, problems: problems.countByPath }
}
