import { api } from "../api.ts"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Button } from "../parts/buttons/button.tsx"
import { RowList } from "../parts/lists/row-list.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"

/** Programs, such as assistants, that the user has allowed to act for them. */
export function Programs() {
  const programs = usePages("listAuthorizations", {})
  const end = async (id: string, name: string) => {
    await api.deleteAuthorization({ authorization_id: id })
    showDone(`${name} has no access any more`)
    programs.reload()
  }
  return (
    <>
      <div class="row wrap toolbar">
        <p class="quiet">
          Add {location.origin}/mcp to an assistant to let it work with your vals.{" "}
          <a href="/docs/assistants">How it works</a>
        </p>
      </div>
      <RowList
        of={programs}
        rows={2}
        empty={<p class="quiet">No program acts for you.</p>}
        title={({ clientName }) => clientName}
        line={({ createdAt, lastUsedAt, scopes }) => (
          <>
            Allowed <TimeAgo at={createdAt} />, last used <TimeAgo at={lastUsedAt} />:{" "}
            {scopes.join(", ")}
          </>
        )}
        button={({ id, clientName }) => (
          <Button
            kind="quiet small"
            label={`Revoke ${clientName}`}
            onClick={() => end(id, clientName)}
          >
            Revoke
          </Button>
        )}
      />
    </>
  )
}
