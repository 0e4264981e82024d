import { expect, test } from 'vitest'
import { type Command, commandGroup } from '../command.js'
import { manualPage } from './man.js'

const leaf: Command = { run: async () => {}, help: () => "Usage: x\n.start\n'quote\\ --flag\n" }

test('the manual has a section for each command, with its help as it is', async () => {
  const page = await manualPage(
    commandGroup('', { crd: async () => commandGroup('crd', { plan: async () => leaf }, 'Group') }, 'All'),
  )
  expect(page).toContain('.SH "BINNACLE CRD"\n.nf\nGroup\n.fi')
  expect(page).toContain('.SH "BINNACLE CRD PLAN"\n.nf\nUsage: x\n\\&.start\n\\&\'quote\\e \\-\\-flag\n.fi')
})
