import { LazyCodeEditor } from "../../editor/lazy.tsx"
import { Icon } from "../../ui/icon.tsx"
import { useTitle } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/loaded.tsx"
import { useResource } from "../data/resource.ts"
import type { PageProps } from "../page-props.ts"

/** The code of a val for a frame in another page, read only and without a session. */
export function Page({ username = "", valName = "" }: PageProps) {
  useTitle(`${username}/${valName}`)
  const val = useResource(`${username}/${valName}`, (signal) =>
    api.getValByName({ username, val_name: valName }, { signal }),
  )
  return (
    <main class="column embed">
      <Loaded of={val}>
        {({ name, author, code, url, links, version }) => (
          <>
            <header class="row embed-head">
              <h1 class="embed-title">
                <a class="table-name" href={url} target="_blank" rel="noopener noreferrer">
                  <Icon name="mark" /> {author.username}/{name}
                </a>
              </h1>
              <span class="quiet">v{version}</span>
              {links.endpoint ? (
                <a
                  class="push small"
                  href={links.endpoint}
                  target="_blank"
                  rel="noopener noreferrer"
                >
                  {new URL(links.endpoint).host}
                </a>
              ) : null}
            </header>
            <div class="column fill code-host">
              <LazyCodeEditor
                value={code}
                language="typescript"
                path={`${author.username}/${name}.tsx`}
                label={`Code of ${author.username}/${name}`}
                readOnly
              />
            </div>
          </>
        )}
      </Loaded>
    </main>
  )
}
