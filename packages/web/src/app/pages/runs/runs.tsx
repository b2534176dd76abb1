import { useTitle } from "../../../ui/page-title.ts"
import { RunsView } from "../../runs/list/runs-view.tsx"

/** All runs of the account. */
export function Page() {
  useTitle("Runs")
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
      </div>
      <RunsView liveHref="/runs/live" />
    </>
  )
}
