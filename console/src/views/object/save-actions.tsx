import { refusal } from '../../api/access.js'
import { Button } from '../../ui/button.js'
import type { ObjectTabProps } from './object-view.js'
import type { Save } from './save-flow.js'

/** Why the text of an object cannot be saved now. */
export function saveRefusal({ resource, object, draft, isDeleted }: ObjectTabProps, mode: 'replace' | 'apply') {
  if (isDeleted) return 'The object is gone.'
  const { name, namespace = '' } = object.metadata
  const verb = mode === 'apply' ? 'patch' : 'update'
  const refused = refusal({ group: resource.group, resource: resource.name, namespace, name, verb })
  if (refused !== undefined) return refused
  if (draft.document.value.error !== undefined) return 'The text is not valid YAML.'
  return mode === 'replace' && !draft.isChanged.value ? 'Nothing has changed.' : undefined
}

interface SaveActionsProps {
  readonly save: Save
  readonly refused: string | undefined
}

export function SaveActions({ save, refused }: SaveActionsProps) {
  const { draft } = save.target
  return (
    <div class="browse-actions">
      <Button
        icon="restore"
        tone="quiet"
        refused={draft.isChanged.value ? undefined : 'Nothing has changed.'}
        onClick={draft.discard}
      >
        Discard
      </Button>
      <SaveButton save={save} refused={refused} label="Save">
        Check and save
      </SaveButton>
    </div>
  )
}

interface SaveButtonProps extends SaveActionsProps {
  readonly label: string
  readonly children: string
}

export function SaveButton({ save, refused, label, children }: SaveButtonProps) {
  return (
    <Button
      icon="check"
      tone="primary"
      refused={refused}
      busy={save.isBusy}
      keys="Ctrl S"
      label={label}
      onClick={save.start}
    >
      {children}
    </Button>
  )
}
