import type { Item } from "@hamlet/contract/client"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { TimeAgo } from "../parts/time-ago.tsx"
import { useAction } from "../parts/use-action.ts"

/** Programs, such as assistants, that the user has allowed to act for them. */
export function Programs() {
  const programs = usePages("listAuthorizations", {})
  const { run } = useAction()
  const end = (program: Item<"listAuthorizations">) =>
    run(async () => {
      await api.deleteAuthorization({ authorization_id: program.id })
      showDone(`${program.clientName} has no access any more`)
      programs.reload()
    })
  return (
    <>
      <div class="toolbar">
        <p class="quiet">
          Add {location.origin}/mcp to an assistant to let it work with your vals.{" "}
          <a href="/docs/assistants.md">How it works</a>
        </p>
      </div>
      <LoadedPages of={programs} rows={2} empty={<p class="quiet">No program acts for you.</p>}>
        {(items) => (
          <ul class="card">
            {items.map((program) => (
              <li key={program.id} class="session-row">
                <div>
                  <p>{program.clientName}</p>
                  <p class="quiet">
                    Allowed <TimeAgo at={program.createdAt} />, last used{" "}
                    <TimeAgo at={program.lastUsedAt} />: {program.scopes.join(", ")}
                  </p>
                </div>
                <button
                  type="button"
                  class="button button-quiet button-small"
                  aria-label={`Revoke ${program.clientName}`}
                  onClick={() => void end(program)}
                >
                  Revoke
                </button>
              </li>
            ))}
          </ul>
        )}
      </LoadedPages>
    </>
  )
}
