// The libraries of validation rules in kube-apiserver v1.36.
import { DURATION, TIMESTAMP } from '../check/cel-type.js'
import type { EnvironmentOptions, Library } from '../environment.js'
import { AUTHORIZER_LIBRARY } from './authorizer.js'
import { CIDR_LIBRARY, IP_LIBRARY } from './ip.js'
import { LIST_AGGREGATES_LIBRARY, LISTS_LIBRARY } from './lists.js'
import { NAMED_FORMATS_LIBRARY } from './named-formats.js'
import { OPTIONAL_LIBRARY } from './optional.js'
import { QUANTITY_LIBRARY } from './quantity.js'
import { REGEX_LIBRARY } from './regex.js'
import { SEMVER_LIBRARY } from './semver.js'
import { SETS_LIBRARY } from './sets.js'
import { STANDARD_LIBRARY } from './standard.js'
import { STRINGS_LIBRARY } from './strings.js'
import { TWO_VARIABLE_LIBRARY } from './two-variable-comprehensions.js'
import { URL_LIBRARY } from './url.js'
import { MESSAGE_NAMES, NULL_VALUE, WELL_KNOWN_MESSAGES } from './well-known-messages.js'

export const RULE_LIBRARIES: readonly Library[] = [
  STANDARD_LIBRARY,
  URL_LIBRARY,
  REGEX_LIBRARY,
  LIST_AGGREGATES_LIBRARY,
  AUTHORIZER_LIBRARY,
  OPTIONAL_LIBRARY,
  QUANTITY_LIBRARY,
  STRINGS_LIBRARY,
  SETS_LIBRARY,
  IP_LIBRARY,
  CIDR_LIBRARY,
  NAMED_FORMATS_LIBRARY,
  TWO_VARIABLE_LIBRARY,
  SEMVER_LIBRARY,
  LISTS_LIBRARY,
  { functions: [], constants: NULL_VALUE },
]

export const RULE_ENVIRONMENT: EnvironmentOptions = {
  libraries: RULE_LIBRARIES,
  unusableTypes: { ...MESSAGE_NAMES, timestamp: TIMESTAMP, duration: DURATION },
  messageTypes: WELL_KNOWN_MESSAGES,
  optionalSyntax: true,
  crossTypeNumericComparisons: true,
  homogeneousLiterals: true,
  checkLiterals: true,
}
