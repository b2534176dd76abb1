import { Bars } from "../../../ui/page-states.tsx"
import { api } from "../../api.ts"
import { Loaded } from "../../data/loaded.tsx"
import { useResource } from "../../data/resource.ts"
import { Menu, MenuItem } from "../../parts/buttons/menu.tsx"
import { TimeAgo } from "../../parts/time-ago.tsx"
import { toHref } from "../to-href.ts"
import type { ValTabProps } from "../val-tab-props.ts"

type Props = Pick<ValTabProps, "editing">

const limits = { versionsMax: 8, pathsMax: 2 }

/** The version of the branch, and a menu of the latest ones. */
export function VersionMenu({ editing }: Props) {
  const { version } = editing.branch.value
  return (
    <span class="menu-start">
      <Menu
        label={`v${version}`}
        title="Versions"
        buttonClass="badge val-version"
        button={`v${version}`}
      >
        <LatestVersions editing={editing} />
        <MenuItem icon="history" label="All versions" href={toHref(editing, "versions")} />
      </Menu>
    </span>
  )
}

/** Loaded when the menu is opened. */
function LatestVersions({ editing }: Props) {
  const { id } = editing.val.value
  const branch = editing.branch.value
  const versions = useResource(`${branch.id} ${branch.version}`, (signal) =>
    api.listHistory({ val_id: id, branch_id: branch.id, limit: limits.versionsMax }, { signal }),
  )
  return (
    <Loaded of={versions} skeleton={<Bars count={3} />}>
      {({ data }) =>
        data.map(({ version, note, changes, createdAt }) => (
          <a
            key={version}
            class="version-item"
            role="menuitem"
            href={toHref(editing, "versions", { to: `${version}` })}
          >
            <span>v{version}</span>
            <span class="ellipsis version-summary">{note ?? toPaths(changes)}</span>
            <TimeAgo at={createdAt} class="quiet" />
          </a>
        ))
      }
    </Loaded>
  )
}

function toPaths(changes: readonly { readonly path: string }[]): string {
  const paths = changes.slice(0, limits.pathsMax).map(({ path }) => path)
  const more = changes.length - paths.length
  return more > 0 ? `${paths.join(", ")} and ${more} more` : paths.join(", ")
}
