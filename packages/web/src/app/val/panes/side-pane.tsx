import { LinkTabs } from "../../parts/link-tabs.tsx"
import { sidePaneId } from "../code/code-actions.ts"
import { RunPanel } from "../code/run-panel.tsx"
import { EmailTab } from "../email-tab.tsx"
import { Workbench } from "../preview/workbench.tsx"
import { ScheduleTab } from "../schedule-tab.tsx"
import type { ValTabProps } from "../val-tab-props.ts"

/** Beside the code: requests to an http val, otherwise the run, the schedule or the mail. */
export function SidePane(props: ValTabProps) {
  const { editing, run, isOwn, base, pane, actions } = props
  const started = editing.files.started.value
  const onGoTo = (line: number) => actions.goTo(started?.path.peek() ?? "", line)
  const type = started?.type.value
  const others = [
    // A val whose type was changed may still have a schedule.
    ...((type === "interval" && isOwn) || pane === "schedule"
      ? [{ href: `${base}/schedule`, label: "Schedule", icon: "timer" as const }]
      : []),
    ...(type === "email" || pane === "mail"
      ? [{ href: `${base}/mail`, label: "Mail", icon: "mail" as const }]
      : []),
  ]
  return (
    <section id={sidePaneId} class="side-pane" aria-label="Result">
      {others.length === 0 ? null : (
        <LinkTabs
          label="Beside the code"
          current={`${base}/${pane}`}
          tabs={[{ href: `${base}/run`, label: "Run", icon: "play" }, ...others]}
        />
      )}
      {pane === "schedule" ? (
        <div class="fill side-part">
          <ScheduleTab {...props} />
        </div>
      ) : pane === "mail" ? (
        <div class="fill side-part">
          <EmailTab {...props} />
        </div>
      ) : type === "http" ? (
        <Workbench {...props} onGoTo={onGoTo} />
      ) : (
        <RunPanel
          run={run}
          type={type}
          editing={editing}
          onStart={() => void actions.start()}
          onGoTo={onGoTo}
        />
      )}
    </section>
  )
}
