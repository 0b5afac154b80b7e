/** What a model is told when it is asked for a summary, where nobody says otherwise. */

/** For a compaction: what it writes takes the place of the conversation above, for the model that goes on. */
export const DEFAULT_INSTRUCTION = `Write a summary that will take the place of the conversation above. Whoever goes on will read your summary, and after it only the messages that follow; what you leave out is lost to them. Do not answer or continue the conversation, and call no tools: write the summary and nothing else.

Write in the language of the conversation, plainly and densely, under those of these headings that have something to say:

Goals: what the user wants and why, in their words where the wording matters, with every constraint and preference they named.
State: what was done, what came of it, and what holds now.
Decisions: what was decided, the reason, and what was ruled out.
Facts: names of files and paths, identifiers, addresses, commands, numbers, versions, error messages and short excerpts that are needed again, copied exactly.
Open: what was asked or promised and not done yet, in order, unanswered questions, and the step that was next.

Keep apart what the user said, what a tool returned and what was only supposed. Say of failed attempts that they failed and how. Leave out pleasantries, and outputs that later ones made void.

If the conversation begins with an earlier summary, yours takes its place too: carry over everything in it that still holds, correct what has changed, drop what is settled and needed no more, and make one summary of the two, not a summary followed by news.`;

/** Added where the last turn is cut in two. */
export const SPLIT_INSTRUCTION = `The last turn above is not finished: its remaining messages follow your summary word for word. So end with what that turn was asked, in full, and what it had done and found up to here, so that its remaining messages make sense; do not say how it ends.`;

/** For a line that was left: what it writes is read on another one, which has what came before both. */
export const BRANCH_INSTRUCTION = `The messages above are one way that a conversation went. It has since gone back to an earlier point and goes on differently from there, and whoever goes on there knows everything up to that point, but none of these messages. Write what they should know of this way. Do not answer or continue the conversation, and call no tools: write the summary and nothing else.

Write in the language of the conversation, in a few short paragraphs or points: what was tried, and what came of it; what was found out, with names of files, identifiers, numbers and error messages copied exactly; what was changed outside the conversation and still stands, such as files that were written or commands that were run; what was decided, or given up, and why. Say that these things happened on the way that was left. Leave out what holds no lesson for another way.`;
