import { LazyCodeEditor } from "../../editor/lazy.tsx"
import { Icon } from "../../ui/icon.tsx"
import { api } from "../api.ts"
import { Loaded } from "../data/page-states.tsx"
import { useResource } from "../data/resource.ts"
import { useTitle } from "../frame/page-title.tsx"
import type { PageProps } from "../page-props.ts"

/**
 * A val inside somebody else's page: its code, read only. It shows what everybody may see and can
 * do nothing for anybody.
 */
export function Page({ username = "", valName = "" }: PageProps) {
  useTitle(`${username}/${valName}`)
  const val = useResource(`${username}/${valName}`, (signal) =>
    api.getValByName({ username, val_name: valName }, { signal }),
  )
  return (
    <main class="embed">
      <Loaded of={val.state} onRetry={val.reload}>
        {({ name, author, code, url, links, version }) => (
          <>
            <header class="embed-head">
              <h1 class="embed-title">
                <a class="table-name" href={url} target="_blank" rel="noopener noreferrer">
                  <Icon name="mark" /> {author.username}/{name}
                </a>
              </h1>
              <span class="quiet">v{version}</span>
              {links.endpoint ? (
                <a
                  class="embed-address"
                  href={links.endpoint}
                  target="_blank"
                  rel="noopener noreferrer"
                >
                  {new URL(links.endpoint).host}
                </a>
              ) : null}
            </header>
            <div class="code-host">
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
