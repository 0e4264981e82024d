// The text that the user edits, shared by the YAML and the form view, with what it was made from.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { StatusCause } from '../../api/client.js'
import { readYaml, type YamlDocument } from '../../yaml/yaml-document.js'

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
}

export function createDraft(): Draft {
  const text = signal('')
  const base = signal<string | undefined>(undefined)
  const causes = signal<readonly StatusCause[]>([])
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
    reset: next => {
      base.value = next
      text.value = next
      causes.value = []
    },
  }
}
