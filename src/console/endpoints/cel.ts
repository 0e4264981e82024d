// `POST /console/api/cel`: an expression on an object, as a rule of a schema or as an expression of an admission policy,
// with its result, type and costs. `binnacle cel eval` and `explain` compute them likewise.

import { type Authorizer, whenDecided } from '../../auth/authorizer.js'
import { type ExpressionInput, explainExpression } from '../../authoring/explain-expression.js'
import { type AuthorizerHost, AuthorizerValue } from '../../cel/index.js'
import type { Registry } from '../../kinds/registry.js'
import { badRequest } from '../../meta/errors/status.js'
import { objectsAt, stringAt } from '../../meta/values/access.js'
import { getOwn, type ValueObject } from '../../meta/values/value.js'
import type { UserInfo } from '../../request/user-info.js'
import type { Endpoint } from './endpoint.js'
import { schemaIn } from './input.js'

/** As long as a rule of a definition may be by far. */
const MAX_EXPRESSION = 20_000
const MAX_VARIABLES = 50

export const createCel =
  (registry: Registry, authorizer: Authorizer): Endpoint =>
  ({ body, user }) => {
    const environment = getOwn(body, 'environment') ?? 'rule'
    if (environment !== 'rule' && environment !== 'policy') throw badRequest('environment must be "rule" or "policy"')
    const expression = getOwn(body, 'expression')
    if (typeof expression !== 'string' || expression.length > MAX_EXPRESSION) {
      throw badRequest(`expression must be a text of at most ${MAX_EXPRESSION} characters`)
    }
    const input: ExpressionInput = {
      environment,
      expression,
      object: getOwn(body, 'object'),
      oldObject: getOwn(body, 'oldObject'),
      params: getOwn(body, 'params'),
      request: getOwn(body, 'request'),
      namespaceObject: getOwn(body, 'namespaceObject'),
      path: stringAt(body, 'path'),
      type: schemaIn(body, registry)?.type,
      variables: variablesIn(body),
      authorizer: new AuthorizerValue(checksOf(authorizer, user)),
    }
    return whenDecided(explain, input)
  }

const explain = (input: ExpressionInput): ValueObject => explainExpression(input) as unknown as ValueObject

function variablesIn(body: ValueObject): { name: string; expression: string }[] {
  const variables = objectsAt(body, 'variables')
  if (variables.length > MAX_VARIABLES) throw badRequest(`there may be at most ${MAX_VARIABLES} variables`)
  return variables.map(each => ({ name: stringAt(each, 'name'), expression: stringAt(each, 'expression') }))
}

/** Only the rights of the user who asks: those of others are seen with a SubjectAccessReview, which needs permission. */
function checksOf(authorizer: Authorizer, user: UserInfo): AuthorizerHost {
  const host: AuthorizerHost = {
    checkPath: (path, verb) => authorizer.decideNow(user, { verb, path }, host),
    checkResource: (check, verb) => authorizer.decideNow(user, { verb, version: '*', ...check }, host),
    serviceAccount: () => 'here an authorizer answers for the user who is signed in, not for service accounts',
  }
  return host
}
