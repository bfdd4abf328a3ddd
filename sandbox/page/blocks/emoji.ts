/** The most common shortcodes, each before its emoji. Others stay as typed, like unknown ones in Slack. */
const SHORTCODES = `
	+1 👍  -1 👎  alarm_clock ⏰  arrow_down ⬇️  arrow_right ➡️  arrow_up ⬆️  arrows_counterclockwise 🔄  bell 🔔
	black_square_for_stop ⏹️  books 📚  bulb 💡  calendar 📆  camera 📷  checkered_flag 🏁  clipboard 📋
	double_vertical_bar ⏸️  email 📧  exclamation ❗  eyes 👀  file_folder 📁  floppy_disk 💾  grey_question ❔
	hand ✋  heart ❤️  heavy_check_mark ✔️  hourglass ⌛  hourglass_flowing_sand ⏳  inbox_tray 📥
	information_source ℹ️  key 🔑  large_blue_circle 🔵  large_green_circle 🟢  large_red_circle 🔴
	large_yellow_circle 🟡  link 🔗  lock 🔒  mag 🔍  memo 📝  no_entry ⛔  octagonal_sign 🛑  ok_hand 👌
	outbox_tray 📤  package 📦  page_facing_up 📄  paperclip 📎  pencil2 ✏️  question ❓  raised_hand ✋
	raising_hand 🙋  repeat 🔁  robot_face 🤖  rocket 🚀  rotating_light 🚨  slightly_smiling_face 🙂  smile 😄
	sparkles ✨  speech_balloon 💬  stopwatch ⏱️  tada 🎉  thinking_face 🤔  thumbsup 👍  wave 👋  warning ⚠️
	white_check_mark ✅  wrench 🔧  x ❌  zap ⚡  zzz 💤
`;
const EMOJI = new Map(Array.from(SHORTCODES.matchAll(/(\S+) (\S+)/g), ([, name = '', emoji = '']) => [name, emoji]));

export function withEmoji(text: string): string {
	return text.replace(/:([\w+-]+):/g, (whole, name: string) => EMOJI.get(name) ?? whole);
}
