// ClusterTrustBundle: the root certificates that clients of a signer trust, or certificates of no signer in particular.

import { X509Certificate } from 'node:crypto'
import { pemBlocks } from '../../base/pem.js'
import { type FieldError, fieldInvalid, fieldTooLong } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, type NameRule } from '../../meta/object/names.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { defineKind } from '../common/define-kind.js'
import { earlierVersion } from '../common/earlier-version.js'
import { checkMeta, metadataUpdate } from '../common/metadata.js'
import { check, field, immutable } from '../common/rules.js'
import { selectableFields, stringField } from '../common/selectable-fields.js'
import { keepGeneration } from '../common/strategies.js'
import { NONE, nameOf } from '../common/table-cells.js'
import { validationRules } from '../common/validation.js'
import { checkSignerName } from './signer-name.js'

const MAX_BYTES = 1024 * 1024

const signerOf = (bundle: ValueObject): string => stringAt(objectAt(bundle, 'spec'), 'signerName')

/** The name of a bundle begins with its signer, with a colon for the slash: `example.com:name:v1`. */
const nameRule =
  (signer: string): NameRule =>
  name => {
    if (signer === '') {
      return name.includes(':')
        ? ['ClusterTrustBundle without signer name must not have ":" in its name']
        : checkDnsSubdomain(name)
    }
    const prefix = `${signer.replaceAll('/', ':')}:`
    return name.startsWith(prefix)
      ? checkDnsSubdomain(name.slice(prefix.length))
      : [`ClusterTrustBundle for signerName ${signer} must be named with prefix ${prefix}`]
  }

/** Certificates of authorities in PEM, each once. Errors do not show the value, and are about the whole of it. */
function checkTrustBundle(pem: string, path: string): FieldError[] {
  if (Buffer.byteLength(pem) > MAX_BYTES) return [fieldTooLong(path, MAX_BYTES)]
  const invalid = (why: string): FieldError => fieldInvalid(path, '<value omitted>', why)
  const errors: FieldError[] = []
  const indices = new Map<string, number[]>()
  for (const [i, { label, hasHeaders, content }] of pemBlocks(pem).entries()) {
    const why = entryError(label, hasHeaders, content)
    if (why !== undefined) errors.push(invalid(`entry ${i} ${why}`))
    const key = content.toString('base64')
    const same = indices.get(key)
    if (same) same.push(i)
    else indices.set(key, [i])
  }
  if (errors.length > 0) return errors
  if (indices.size === 0) return [invalid('at least one trust anchor must be provided')]
  return [...indices.values()].flatMap(same =>
    same.length > 1 ? [invalid(`duplicate trust anchor (indices [${same.join(' ')}])`)] : [],
  )
}

function entryError(label: string, hasHeaders: boolean, der: Buffer): string | undefined {
  if (label !== 'CERTIFICATE') return `has bad block type: ${label}`
  if (hasHeaders) return 'has PEM block headers'
  try {
    return new X509Certificate(der).ca ? undefined : 'does not have the CA bit set'
  } catch {
    return 'does not parse as X.509'
  }
}

const rules = [
  check(bundle => checkMeta(bundle, { namespaced: false, name: nameRule(signerOf(bundle)) })),
  check(bundle => (signerOf(bundle) === '' ? [] : checkSignerName(signerOf(bundle), 'spec.signerName'))),
  check((bundle, _, old) => {
    const [now, before] = [bundle, old].map(each => each && stringAt(objectAt(each, 'spec'), 'trustBundle'))
    return now === before ? [] : checkTrustBundle(now!, 'spec.trustBundle')
  }),
]

const clusterTrustBundle = defineKind('certificates.k8s.io/v1beta1', 'ClusterTrustBundle', {
  strategy: { prepareForUpdate: keepGeneration, allowUnconditionalUpdate: false },
  validation: validationRules({
    create: rules,
    update: [
      ...rules,
      metadataUpdate,
      field('spec', [immutable('signerName', { of: 'certificates/v1beta1.ClusterTrustBundleSpec' })]),
    ],
  }),
  selectableFields: selectableFields({ 'spec.signerName': stringField('spec', 'signerName') }, { namespaced: false }),
  table: bundle => [nameOf(bundle), signerOf(bundle) || NONE],
})

export const clusterTrustBundles = [clusterTrustBundle, earlierVersion(clusterTrustBundle, 'v1alpha1', { since: 34 })]
