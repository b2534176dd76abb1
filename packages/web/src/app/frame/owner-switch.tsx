import { useEffect } from "preact/hooks"
import { Icon } from "../../ui/icon.tsx"
import { followMedia } from "../../ui/media.ts"
import { usePoll } from "../data/poll.ts"
import { Menu, MenuChoice, MenuItem } from "../parts/buttons/menu.tsx"
import { acting, chooseOwner, joined, refusals } from "../session/owners.ts"
import type { Me } from "../session/session.ts"
import { reloadMemberships } from "../session/sign-in.ts"

const pollMs = 60_000

/** Whether the bar has no room for links beside the switch, as in the style sheet. */
const isPhone = followMedia("(width < 720px)")

/** Chooses for whom the user acts. There is nothing to choose without an organisation. */
export function OwnerSwitch({ me }: { me: Me }) {
  return joined.value.length === 0 ? null : <Switch me={me} />
}

function Switch({ me }: { me: Me }) {
  const org = acting.value?.org
  // The membership may have ended while the page is open.
  usePoll(pollMs, reloadMemberships)
  useEffect(() => {
    if (refusals.value > 0) void reloadMemberships().catch(() => {})
  }, [refusals.value])
  const name = org?.username ?? me.username
  return (
    <span class="menu-start">
      <Menu
        label={`Acting for ${name}`}
        title="Choose for whom you act"
        buttonClass={`row boxed small owner-switch ${org ? "owner-switch-org" : ""}`}
        button={
          <>
            <Icon name={org ? "people" : "account"} />
            <span class="ellipsis">{name}</span>
            <Icon name="chevron" />
          </>
        }
      >
        <MenuChoice
          icon="account"
          label={`${me.username} (you)`}
          isChosen={org === undefined}
          onClick={() => chooseOwner(undefined)}
        />
        {joined.value.map(({ org: { id, username } }) => (
          <MenuChoice
            key={id}
            icon="people"
            label={username}
            isChosen={id === org?.id}
            onClick={() => chooseOwner(id)}
          />
        ))}
        <hr />
        {org ? (
          <>
            <MenuItem icon="globe" label={`Page of ${name}`} href={`/u/${name}`} />
            <MenuItem icon="people" label={`People in ${name}`} href={`/orgs/${name}`} />
          </>
        ) : null}
        <MenuItem icon="settings" label="Organisations" href="/account/organisations" />
        {isPhone.value ? (
          <>
            <MenuItem icon="runs" label="Runs" href="/runs" />
            <MenuItem icon="explore" label="Explore" href="/search" />
          </>
        ) : null}
      </Menu>
    </span>
  )
}

/** Opens the menu, if there is one. */
export function openOwnerSwitch(): void {
  document.querySelector<HTMLElement>(".owner-switch")?.click()
}
