// A text that the user edits, with what it was made from. Several tabs of a view share one.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { StatusCause } from '../api/client.js'
import { getYaml } from '../api/objects.js'
import { session } from '../api/session.js'
import { toastError } from '../state/toasts.js'
import { useUnsaved } from '../state/unsaved.js'
import { readYaml, withoutManagedFields, type YamlDocument } from '../yaml/yaml-document.js'

export interface Draft {
  readonly text: Signal<string>
  /** The text as the server had it when editing began; undefined while it is read. */
  readonly base: Signal<string | undefined>
  readonly document: ReadonlySignal<YamlDocument>
  readonly isChanged: ReadonlySignal<boolean>
  /** What the server said of this text, at a dry run. Emptied when the text changes. */
  readonly causes: Signal<readonly StatusCause[]>
  readonly edit: (text: string) => void
  /** Starts again from what the server has. */
  readonly reset: (text: string) => void
  readonly discard: () => void
}

function createDraft(): Draft {
  const text = signal('')
  const base = signal<string | undefined>(undefined)
  const causes = signal<readonly StatusCause[]>([])
  const reset = (next: string): void => {
    base.value = next
    text.value = next
    causes.value = []
  }
  return {
    text,
    base,
    causes,
    document: computed(() => readYaml(text.value)),
    isChanged: computed(() => base.value !== undefined && text.value !== base.value),
    edit: next => {
      if (next === text.peek()) return
      text.value = next
      causes.value = []
    },
    reset,
    discard: () => reset(base.peek() ?? ''),
  }
}

/** Drafts of the views that are shown, and changed ones that a session left behind when it ended. */
const drafts = new Map<string, Draft>()

/** The draft of an address of the API. After signing in again it is as it was. */
export function useDraft(path: string): Draft {
  const key = `${session.peek()?.user.username} ${path}`
  const draft = useMemo(() => drafts.get(key) ?? createDraft(), [key])
  useEffect(() => {
    drafts.set(key, draft)
    return () => {
      if (!draft.isChanged.peek()) drafts.delete(key)
    }
  }, [key, draft])
  useUnsaved(draft)
  return draft
}

/** A draft of an object, which follows it for as long as nothing is edited. */
export function useObjectDraft(path: string, resourceVersion: string, isDeleted = false): Draft {
  const draft = useDraft(path)
  const latest = useRef('')
  useEffect(() => {
    if (isDeleted || draft.isChanged.value) return
    latest.current = resourceVersion
    getYaml(path).then(text => {
      if (!draft.isChanged.value && latest.current === resourceVersion) draft.reset(withoutManagedFields(text))
    }, toastError)
  }, [draft, resourceVersion, isDeleted])
  return draft
}
