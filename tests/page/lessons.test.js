// Lessons in Chromium: a link opens one, locks hold, answers are checked, paper has lines, and teachers make their own.
import assert from 'node:assert/strict';
import { AxeBuilder } from './support/axe.js';
