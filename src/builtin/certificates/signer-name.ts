// The names of signers, which requests for certificates and bundles of trust anchors have in common.
import { type FieldError, fieldInvalid, fieldRequired, fieldTooLong } from '../../meta/errors/field-errors.js'
import { quote } from '../../meta/go/go-text.js'
import { checkDnsLabel, checkDnsSubdomain, type NameRule } from '../../meta/object/names.js'

const DOMAIN_MAX = 253
/** A domain, a slash, and the names of a namespace and of an object with a dot between them. */
const SIGNER_MAX = DOMAIN_MAX + 1 + (253 + 63 + 1)

/** The domain of the signer's owner and a path: `example.com/name`. */
export function checkSignerName(name: string, path: string): FieldError[] {
  if (name === '') return [fieldRequired(path)]
  const [domain = '', rest, ...more] = name.split('/')
  if (rest === undefined || more.length > 0) {
    const why = "must be a fully qualified domain and path of the form 'example.com/signer-name'"
    return [fieldInvalid(path, name, why)]
  }
  return [
    ...(domain.length > DOMAIN_MAX ? [fieldTooLong(path, DOMAIN_MAX)] : []),
    ...checkFirstBadLabel(domain, checkDnsLabel, path),
    ...(domain.includes('.')
      ? []
      : [fieldInvalid(path, domain, 'should be a domain with at least two segments separated by dots')]),
    ...checkFirstBadLabel(rest, checkDnsSubdomain, path),
    ...(name.length > SIGNER_MAX ? [fieldTooLong(path, SIGNER_MAX)] : []),
  ]
}

/** The labels of a text, separated by dots. Only the first one with an error is reported. */
function checkFirstBadLabel(text: string, rule: NameRule, path: string): FieldError[] {
  for (const label of text.split('.')) {
    const errors = rule(label)
    if (errors.length > 0)
      return errors.map(why => fieldInvalid(path, text, `validating label ${quote(label)}: ${why}`))
  }
  return []
}

/** Signers of the Kubernetes project issue certificates of a shorter life. */
export function isKubernetesSigner(name: string): boolean {
  const [domain = ''] = name.split('/', 1)
  return domain === 'kubernetes.io' || domain.endsWith('.kubernetes.io')
}
