import { expect, test } from 'vitest'
import { withGates } from './gated-roles.js'
import { parseRoles } from './policy-text.js'

test('a gate that is off takes away roles, rules, and paths of rules', () => {
  const roles = parseRoles(`
    system:monitoring
    - urls | /flagz /livez /statusz | get

    system:node
    - core | pods | read
    - core | serviceaccounts | get

    system:controller:device-taint-eviction-controller
    - core | pods | read`)
  const off = {
    ComponentStatusz: false,
    DRADeviceTaints: false,
    KubeletServiceAccountTokenForCredentialProviders: false,
  }
  expect(withGates(roles, off)).toEqual(
    parseRoles(`
      system:monitoring
      - urls | /flagz /livez | get

      system:node
      - core | pods | read`),
  )
})
