import { agree, question, stay } from '../state/unsaved.js'
import { Button } from '../ui/button.js'
import { Dialog } from '../ui/dialog.js'

/** Asks before a view with unsaved changes is left. */
export function UnsavedDialog() {
  if (question.value === undefined) return null
  return (
    <Dialog
      title="Leave without saving?"
      onClose={stay}
      actions={
        <>
          <Button onClick={stay}>Stay</Button>
          <Button tone="danger" icon="leave" onClick={agree}>
            Discard and leave
          </Button>
        </>
      }
    >
      <p>What you changed here is not saved. It is lost when you leave.</p>
    </Dialog>
  )
}
