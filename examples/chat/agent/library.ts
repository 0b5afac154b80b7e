/** What the built-in agent knows: short texts about trees, espaliers and gardens, each with its subjects. */

export type Passage = { readonly about: readonly string[]; readonly text: string };

export const OPENINGS: readonly string[] = [
  "Here is what the garden has to say about that.",
  "A good question for a slow walk along the wall.",
  "Let us begin at the roots of it.",
  "There is more than one way to train this branch; this is one.",
  "I asked the old pear on the south wall. It took its time, and answered:",
  "Every gardener would tell you something else. I would say this.",
];

export const CLOSINGS: readonly string[] = [
  "If that is not the shape you had in mind, ask again, and I will train another branch.",
  "Try it for a season. Nothing you cut away here is lost.",
  "The rest is patience, and a sharp knife.",
  "You can go back to any fork from here and grow the other way.",
];

export const PASSAGES: readonly Passage[] = [
  {
    about: ["espalier", "espaliers", "wall", "trellis", "train", "flat", "what", "shape"],
    text: "An espalier is a tree that was asked to be patient. It is planted close to a wall or along a few level wires, and as it grows its branches are bent, one pair a year, until they lie flat. Nothing forces it: young wood is soft, and it goes where it is tied. After six or seven summers the tree stands like an open hand, and every fruit on it hangs in the sun.",
  },
  {
    about: ["prune", "pruning", "cut", "cutting", "summer", "winter", "knife", "shears"],
    text: "Prune twice a year, for two reasons. In winter you decide on the shape: the tree is bare and shows you its whole plan. In summer you decide on the fruit: shorten this year's shoots to three or four leaves above the cluster at their base, and the tree puts its strength into buds where it would have put it into wood. Cut just above a bud that faces the way you want to go.",
  },
  {
    about: ["root", "roots", "soil", "ground", "earth", "compost", "dig", "water", "watering"],
    text: "Most of what a tree does, it does below the grass. Its roots reach two or three times as far as its crown, and nearly all of them lie in the top two feet, where there is air. So water at the edge of the crown and not at the trunk, a whole can at once and then nothing for a week: roots follow the water down, and a tree with deep roots does not mind August.",
  },
  {
    about: ["apple", "apples", "variety", "fruit", "harvest", "orchard", "cider"],
    text: "Apples forgive more than other trees. They bear on short spurs that stay fruitful for many years, which is why they were always the first choice for a wall. Plant two kinds that flower in the same week, since hardly any apple likes its own pollen. You know that one is ripe when you lift it in the palm of your hand, turn it a little, and it comes.",
  },
  {
    about: ["pear", "pears", "ripe", "fruit", "south", "warm"],
    text: "A pear wants the warm wall. It flowers before the apple does, at a time when a single clear night can take the whole year's crop, and stones give back after dark what they took in during the day. Pick pears before they are ripe. They finish in a drawer, from the inside out, and there are about three days in which they are perfect.",
  },
  {
    about: ["shade", "shady", "dark", "north", "fern", "ferns", "cherry", "plant", "grow", "grows"],
    text: "Shade is not the lack of a garden but another kind of one. Against a north wall the sour cherry still bears, and so do redcurrants trained as a fan. Below them go ferns, lungwort, woodruff and the white foxglove, which seeds itself wherever it likes. Dry shade below old trees is harder: give it leaf mould every autumn and let the ivy have the rest.",
  },
  {
    about: ["branch", "branches", "fork", "choose", "path", "alternative", "decide", "way"],
    text: "A branch begins as a bud, and a bud has not decided anything yet. It may become a leaf, a flower, or another limb as thick as your arm. What tips the scale is light, and what happens to its neighbours: while the tip of a shoot lives, it holds back the buds below it. Take the tip, and two or three of those begin to grow at once. Every fork in a tree is a place where something above it ended.",
  },
  {
    about: ["season", "spring", "frost", "blossom", "bloom", "flower", "flowers", "april", "bee", "bees"],
    text: "Spring in a garden is mostly bookkeeping: what came through, what did not, and what was eaten by mice. Keep a fleece near the early blossom, and hang it before sunset, not when you see the frost. Leave the dandelions until the apples are in flower. The first bumblebee queens live on them, and she who visits the dandelion on Monday is at your pear tree on Tuesday.",
  },
  {
    about: ["old", "age", "tree", "trees", "oak", "forest", "wood", "ring", "rings", "time", "history"],
    text: "A tree keeps everything. Each summer is laid around the last one as a ring, wide in good years and narrow in dry ones, and no ring is ever taken back. The heartwood in the middle is not alive any more, but it holds up the rest. Cut into an old oak and you read it from the bark inwards: the newest first, and at the centre a thin green stem that somebody did not step on.",
  },
  {
    about: ["graft", "grafting", "rootstock", "scion", "copy", "clone", "seed", "seeds"],
    text: "Sow the seed of an apple and you get an apple that nobody has met before. Whoever wants the same one again has to graft it. In late winter you cut a twig of last year's growth, and fit it to a rootstock of the same thickness so that the green layers below the bark touch. Bind it, wax it, and wait. The root decides how tall the tree becomes, the twig decides what it bears.",
  },
  {
    about: [
      "small",
      "balcony",
      "pot",
      "pots",
      "city",
      "room",
      "space",
      "terrace",
      "little",
      "start",
      "begin",
    ],
    text: "A wall two metres wide is enough to begin with. So is a balcony: take a pot of forty litres, an apple on a weak rootstock, and three bamboo canes. Choose one shape and keep to it for four years. The step-over, a single pair of arms at the height of your knee, is the smallest espalier there is, and can serve as the edge of a bed of strawberries.",
  },
  {
    about: [
      "pest",
      "pests",
      "aphid",
      "aphids",
      "sick",
      "disease",
      "scab",
      "leaves",
      "leaf",
      "yellow",
      "problem",
    ],
    text: "Before you fight anything, look at it for a week. Aphids on young shoots bring the ladybirds, and those need a fortnight to notice. Scab comes with wet leaves that do not dry, so an open, flat tree has less of it than a crowded crown. Yellow leaves with green veins want iron, or rather want a soil that lets them have it. And a tree that drops fruit in June has merely counted what it can carry.",
  },
  {
    about: ["wire", "wires", "tie", "build", "how", "post", "posts", "make", "tools", "step", "steps"],
    text: "Set the posts first and the tree after them. Run wires along the wall at every forty centimetres, a hand's breadth away from the stone so that air can pass behind the leaves. Plant a maiden whip, cut it just above the lowest wire, and let three buds grow: one goes up, one left, one right. Tie the side shoots to canes at a slant, and lower them to the level in autumn, when they have grown long enough to stay.",
  },
  {
    about: [
      "garden",
      "plan",
      "design",
      "idea",
      "ideas",
      "advice",
      "help",
      "why",
      "story",
      "tell",
      "hello",
      "hi",
    ],
    text: "A garden is a conversation in which one side answers very slowly. You propose a bed of lavender, and two years later you are told that it is too wet there. You wanted a lawn, and got clover, and the clover was right. It helps to write down what you did and when, to take out nothing in its first spring, and to put a chair wherever you find yourself standing still.",
  },
];
