import type { Item } from "@hamlet/contract/client"
import { useSignal } from "@preact/signals"
import { bindText, setTo } from "../../ui/bind.ts"
import { EmptyState } from "../../ui/page-states.tsx"
import { api } from "../api.ts"
import { LoadedPages } from "../data/loaded.tsx"
import { usePages } from "../data/pages.ts"
import { showDone } from "../frame/toast-list.ts"
import { Avatar } from "../parts/avatar.tsx"
import { Button } from "../parts/buttons/button.tsx"
import { LinkButton } from "../parts/buttons/link-button.tsx"
import { useAction } from "../parts/buttons/use-action.ts"
import { Markdown } from "../parts/markdown.tsx"
import { TimeAgo } from "../parts/time-ago.tsx"
import { currentUser, session } from "../session/session.ts"
import type { ValTabProps } from "./val-tab-props.ts"

const commentCharsMax = 10_000

/** The comments on a val. */
export function DiscussionTab({ editing, isOwn }: ValTabProps) {
  const { id } = editing.val.value
  const comments = usePages("listComments", { val_id: id })
  return (
    <div class="discussion">
      {session.value.kind === "signed-in" ? (
        <CommentForm valId={id} onDone={comments.reload} />
      ) : (
        <p class="quiet">
          <a href="/sign-in">Sign in</a> to comment.
        </p>
      )}
      <LoadedPages
        of={comments}
        rows={4}
        empty={
          <EmptyState icon="comment" title="No comments yet">
            <p>Everyone who can see the val can read its comments.</p>
          </EmptyState>
        }
      >
        {(items) => (
          <ol class="comments">
            {items.map((comment) => (
              <Comment
                key={comment.id}
                comment={comment}
                isValOwn={isOwn}
                onChange={comments.reload}
              />
            ))}
          </ol>
        )}
      </LoadedPages>
    </div>
  )
}

function CommentForm({ valId, onDone }: { valId: string; onDone: () => void }) {
  const text = useSignal("")
  const isPreview = useSignal(false)
  const { isBusy, run } = useAction()
  const send = (event: Event) => {
    event.preventDefault()
    void run(async () => {
      await api.createComment({ val_id: valId, comment: text.value })
      text.value = ""
      isPreview.value = false
      onDone()
    })
  }
  return (
    <form class="comment-form" onSubmit={send}>
      {isPreview.value ? (
        <div class="card card-pad">
          <Markdown text={text.value} />
        </div>
      ) : (
        <textarea
          class="input"
          aria-label="Your comment"
          placeholder="Write a comment, in Markdown"
          required
          maxLength={commentCharsMax}
          {...bindText(text)}
        />
      )}
      <div class="row wrap form-foot">
        <button type="submit" class="button" disabled={isBusy || text.value.trim() === ""}>
          Comment
        </button>
        <Button
          kind="quiet"
          disabled={text.value.trim() === ""}
          onClick={setTo(isPreview, !isPreview.value)}
        >
          {isPreview.value ? "Write" : "Preview"}
        </Button>
      </div>
    </form>
  )
}

function Comment(props: {
  readonly comment: Item<"listComments">
  readonly isValOwn: boolean
  readonly onChange: () => void
}) {
  const { comment, isValOwn, onChange } = props
  const mayDelete = isValOwn || currentUser()?.id === comment.author.id
  const remove = async () => {
    if (!confirm("Delete this comment?")) return
    await api.deleteComment({ comment_id: comment.id })
    showDone("The comment is deleted")
    onChange()
  }
  return (
    <li class="comment">
      <Avatar name={comment.author.username} />
      <div class="comment-body">
        <p class="wrap comment-head">
          <a class="table-name" href={`/u/${comment.author.username}`}>
            {comment.author.username}
          </a>
          <TimeAgo at={comment.createdAt} class="quiet" />
          {mayDelete ? (
            <LinkButton isDanger class="push" onClick={remove}>
              Delete
            </LinkButton>
          ) : null}
        </p>
        <Markdown text={comment.comment} />
      </div>
    </li>
  )
}
