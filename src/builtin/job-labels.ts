// The labels by which a job finds its pods, which the server makes of its uid and name.

import { ensureObject, setDefault, stringAt } from '../meta/values/access.js'
import type { ValueObject } from '../meta/values/value.js'
import { labelByTemplate } from './apps/pod-owner.js'

/** The one that the selector asks for. */
export const SELECTOR_LABEL = 'batch.kubernetes.io/controller-uid'

/** Each under the name of today and the one of before. */
export function generatedLabels(metadata: ValueObject): Readonly<Record<string, string>> {
  const uid = stringAt(metadata, 'uid')
  const name = stringAt(metadata, 'name')
  return {
    [SELECTOR_LABEL]: uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  }
}

/** What a new job gets, unless its client says that it brings a selector of its own. */
export function labelJob(job: ValueObject): void {
  const spec = ensureObject(job, 'spec')
  if (spec['manualSelector'] === true) return
  const metadata = ensureObject(job, 'metadata')
  const generated = generatedLabels(metadata)
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels')
  for (const label of Object.keys(generated)) setDefault(labels, label, generated[label]!)
  ensureObject(ensureObject(spec, 'selector'), 'matchLabels')[SELECTOR_LABEL] = generated[SELECTOR_LABEL]!
  labelByTemplate(job)
}
