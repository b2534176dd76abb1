import type { ComponentChildren } from "preact"
import { Icon, type IconName } from "../../ui/icon.tsx"
import { followMedia } from "../../ui/media.ts"
import { api } from "../api.ts"
import { useResource } from "../data/resource.ts"
import { setQuery } from "../frame/location.ts"
import { CountButton } from "../parts/buttons/link-button.tsx"
import { type LinkTab, LinkTabs } from "../parts/link-tabs.tsx"
import { session } from "../session/session.ts"
import { MoreMenu } from "./bar/more-menu.tsx"
import { ShareButton } from "./bar/share-button.tsx"
import { VersionMenu } from "./bar/version-menu.tsx"
import { BranchMenu } from "./branches/branch-menu.tsx"
import { mainBranch } from "./files/load-files.ts"
import { ForkButton, ForkedFrom } from "./fork-parts.tsx"
import { toHref } from "./to-href.ts"
import type { ValTabProps } from "./val-tab-props.ts"

/**
 * Narrower than this, most tabs are in the menu. The name of the branch and one more tab take room:
 * first the tabs that are about other people leave.
 */
const narrow = {
  main: followMedia("(width < 1100px)"),
  branches: followMedia("(width < 1340px)"),
  others: followMedia("(width < 1480px)"),
}

/** The name and the tabs of a val in one bar, and at its end what belongs to the tab. */
export function ValBar(
  props: Pick<ValTabProps, "editing" | "actions" | "draftMode" | "isOwn" | "tab"> & {
    readonly children: ComponentChildren
  },
) {
  const { editing, isOwn, tab, children } = props
  const { name, author } = editing.val.value
  const { shown, folded } = useTabs(props)
  return (
    <header class="val-bar">
      <div class="column val-name">
        <h1 class="val-title">
          <a href={`/u/${author.username}`}>{author.username}</a>
          <span class="val-slash">/</span>
          <span title={name}>{name}</span>
        </h1>
        <ForkedFrom editing={editing} />
      </div>
      {isOwn ? null : <AppLink editing={editing} />}
      <div class="row val-badges">
        <CurrentBranch editing={editing} isOwn={isOwn} />
        <VersionMenu editing={editing} />
        <ShareButton editing={editing} isOwn={isOwn} />
      </div>
      <LinkTabs label="Val" current={toHref(editing, tab)} tabs={shown} />
      <div class="row val-bar-end">
        <span class="row val-social">
          <MoreMenu {...props} tabs={folded} />
          <ForkButton editing={editing} />
          <LikeButton editing={editing} />
        </span>
        {children}
      </div>
    </header>
  )
}

/** Visitors may have come for what the val does, and not for its code. */
function AppLink({ editing }: Pick<ValTabProps, "editing">) {
  const { alias, endpoint } = editing.findStarted()?.links ?? {}
  const address = alias ?? endpoint
  return address === undefined ? null : (
    <a class="button button-small app-link" href={address} target="_blank" rel="noreferrer">
      <Icon name="external" /> Open the app
    </a>
  )
}

function CurrentBranch({ editing, isOwn }: Pick<ValTabProps, "editing" | "isOwn">) {
  const { branch } = editing
  const show = (name: string) =>
    setQuery({
      branch: name === mainBranch ? undefined : name,
      file: undefined,
      line: undefined,
      from: undefined,
      to: undefined,
      show: undefined,
    })
  return <BranchMenu val={editing.val.value} branch={branch.value} isOwn={isOwn} onSwitch={show} />
}

/** The tabs in the bar, and those in the menu. The current one is always in the bar. */
function useTabs(props: Pick<ValTabProps, "editing" | "isOwn" | "tab">) {
  const { editing, isOwn, tab } = props
  const { referenceCount, branchCount } = editing.val.value
  const hasBranches = branchCount > 1
  const isNarrow = (hasBranches ? narrow.branches : narrow.main).value
  const isFolded = (part: string) =>
    part !== tab && (isNarrow || (hasBranches && narrow.others.value && aboutOthers.has(part)))
  const toTab = (part: string, label: string, icon: IconName) => ({
    href: toHref(editing, part),
    label,
    isFolded: isFolded(part),
    // In the menu.
    ...(isFolded(part) ? { icon } : {}),
  })
  const first: readonly LinkTab[] = [
    { href: toHref(editing), label: "Code" },
    { href: toHref(editing, "readme"), label: "Readme" },
  ]
  const others: readonly (LinkTab & { readonly isFolded: boolean })[] = [
    toTab("versions", "Versions", "history"),
    ...(hasBranches ? [toTab("branches", "Branches", "branch")] : []),
    toTab("runs", "Runs", "runs"),
    toTab("discussion", "Discussion", "comment"),
    { ...toTab("graph", "Graph", "graph"), count: referenceCount },
    ...(isOwn ? [toTab("settings", "Settings", "settings")] : []),
  ]
  return {
    shown: [...first, ...others.filter(({ isFolded }) => !isFolded)],
    folded: others.filter(({ isFolded }) => isFolded),
  }
}

const aboutOthers: ReadonlySet<string> = new Set(["discussion", "graph"])

function LikeButton({ editing }: Pick<ValTabProps, "editing">) {
  const { id, likeCount } = editing.val.value
  const isSignedIn = session.value.kind === "signed-in"
  const like = useResource(isSignedIn ? id : undefined, (signal) =>
    api.getLike({ val_id: id }, { signal }),
  )
  const isLiked = like.state.kind === "ready" && like.state.data.liked
  const toggle = async () => {
    await (isLiked ? api.unlikeVal({ val_id: id }) : api.likeVal({ val_id: id }))
    like.set({ liked: !isLiked })
    const { likeCount } = await api.getVal({ val_id: id })
    editing.val.value = { ...editing.val.value, likeCount }
  }
  return (
    <CountButton
      icon="heart"
      class="like-button"
      aria-pressed={isLiked}
      disabled={like.state.kind !== "ready"}
      title={!isSignedIn ? "Sign in to like it" : isLiked ? "Unlike" : "Like"}
      action={toggle}
    >
      {likeCount}
      <span class="visually-hidden"> likes</span>
    </CountButton>
  )
}
