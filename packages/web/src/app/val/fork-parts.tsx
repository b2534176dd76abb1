import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages, withoutTexts } from "../data/pages.ts"
import { navigate } from "../frame/location.ts"
import { CountButton } from "../parts/buttons/link-button.tsx"
import { ValList } from "../parts/lists/val-list.tsx"
import { acting } from "../session/owners.ts"
import { session } from "../session/session.ts"
import type { ValTabProps } from "./val-tab-props.ts"

type Props = Pick<ValTabProps, "editing">

/** Copies the val to the vals of the current owner and opens the copy. */
export function ForkButton({ editing }: Props) {
  if (session.value.kind !== "signed-in") return null
  const { id, forkCount } = editing.val.value
  const fork = async () => {
    const copy = await api.forkVal({ val_id: id })
    navigate(new URL(copy.url).pathname)
  }
  const owner = acting.value
  const title = `Fork: copy it to ${owner ? `the vals of ${owner.org.username}` : "your vals"}`
  return (
    <CountButton icon="fork" title={title} action={fork}>
      <span class="visually-hidden">Fork</span>
      {forkCount > 0 ? (
        <>
          {" "}
          {forkCount}
          <span class="visually-hidden"> forks</span>
        </>
      ) : null}
    </CountButton>
  )
}

/** The val that this one is a copy of. */
export function ForkedFrom({ editing }: Props) {
  const { forkedFrom } = editing.val.value
  if (forkedFrom === null) return null
  const { name, author, version } = forkedFrom
  const path = `/u/${author.username}/${name}`
  return (
    <p class="ellipsis tiny val-origin">
      Forked from{" "}
      <a href={path}>
        {author.username}/{name}
      </a>{" "}
      <a href={`${path}/versions`} title="The version that was copied">
        v{version}
      </a>
    </p>
  )
}

/** The public forks of the val and the user's own. */
export function ForkList({ editing }: Props) {
  const { id, forkCount } = editing.val.value
  const forks = usePages("listForks", { val_id: id, ...withoutTexts }, 20)
  return (
    <section aria-label="Forks" class="fork-list">
      <h2>
        Forks <span class="tiny count">{forkCount}</span>
      </h2>
      <LoadedPages of={forks} rows={2} empty={<p class="quiet">None that you can see</p>}>
        {(vals) => <ValList vals={vals} />}
      </LoadedPages>
    </section>
  )
}
