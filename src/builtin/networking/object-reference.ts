// References by group, kind and name, in ingresses and ingress classes.
import { childPath } from '../../meta/errors/field-errors.js'
import { checkDnsSubdomain, checkPathSegment } from '../../meta/object/names.js'
import { has, stringAt } from '../../meta/values/access.js'
import { checkText } from '../common/field-checks.js'
import { check, format, type Rule, when } from '../common/rules.js'

export const kindAndName: readonly Rule[] = [
  when(
    reference => has(reference, 'apiGroup'),
    [
      check((reference, path) =>
        checkText(stringAt(reference, 'apiGroup'), checkDnsSubdomain, childPath(path, 'apiGroup')),
      ),
    ],
  ),
  format('kind', checkPathSegment, { required: true }),
  format('name', checkPathSegment, { required: true }),
]
