// The labels by which a job finds its pods. The server derives them from the uid and the name of the job.
import { ensureObject, has, setDefault, stringAt } from '../../meta/values/access.js'
import { wasGivenEmpty } from '../../meta/values/given-empty.js'
import type { ValueObject } from '../../meta/values/value.js'
import { labelByTemplate } from '../apps/pod-owner.js'

/** The label in the generated selector. */
export const SELECTOR_LABEL = 'batch.kubernetes.io/controller-uid'

/** Each label under its name without a prefix, which is older, and under its present name; in the order of errors. */
export function generatedLabels(metadata: ValueObject): Readonly<Record<string, string>> {
  const uid = stringAt(metadata, 'uid')
  const name = stringAt(metadata, 'name')
  return {
    'controller-uid': uid,
    'job-name': name,
    [SELECTOR_LABEL]: uid,
    'batch.kubernetes.io/job-name': name,
  }
}

/** Adds the labels and the selector to a new job, unless the client says that it has a selector of its own. */
export function labelJob(job: ValueObject): void {
  const spec = ensureObject(job, 'spec')
  if (spec['manualSelector'] === true) return
  const metadata = ensureObject(job, 'metadata')
  const generated = generatedLabels(metadata)
  const labels = ensureObject(ensureObject(ensureObject(spec, 'template'), 'metadata'), 'labels')
  // In Go, labels that come from the template are one map with those of the template, unless a name is generated.
  const isOneMap = wasGivenEmpty(metadata, 'labels') && !has(metadata, 'generateName')
  for (const map of isOneMap ? [labels, ensureObject(metadata, 'labels')] : [labels]) {
    for (const label of Object.keys(generated)) setDefault(map, label, generated[label]!, false)
  }
  setDefault(
    ensureObject(ensureObject(spec, 'selector'), 'matchLabels'),
    SELECTOR_LABEL,
    generated[SELECTOR_LABEL]!,
    false,
  )
  labelByTemplate(job)
}
