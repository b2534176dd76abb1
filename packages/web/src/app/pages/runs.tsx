import { useTitle } from "../frame/page-title.tsx"
import { RunsView } from "../runs/runs-view.tsx"

/** All runs on the account. */
export function Page() {
  useTitle("Runs")
  return (
    <>
      <div class="page-head">
        <h1>Runs</h1>
      </div>
      <RunsView />
    </>
  )
}
